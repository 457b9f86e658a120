import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll } from 'vitest';
import { z } from 'zod';
import { freePort } from './redis.js';

/** The options of a Prometheus. */
export interface PrometheusOptions {
  /** The scrape targets by job, as `127.0.0.1:9840`. */
  readonly scrape: Readonly<Record<string, readonly string[]>>;
  /**
   * A Prometheus duration, like `2s`, for scrapes, their timeout and rule evaluation. A gate answers half a second before
   * the timeout, with every probe blind if need be, so a much shorter interval shows what no real one would.
   */
  readonly scrapeInterval?: string;
  /** Paths of rule files. */
  readonly rules?: readonly string[];
  /** Addresses of Alertmanagers. */
  readonly alertmanagers?: readonly string[];
  /** A complete configuration (YAML) instead of one made from the above. */
  readonly config?: string;
}

/** One series of an answer, at one moment. `value` is `NaN` where Prometheus says so. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A real Prometheus with its own folder and port. */
export interface TestPrometheus {
  readonly url: string;
  readonly pid: number;
  /** Now, unless `atSeconds` is given. Rejects with Prometheus' message on an invalid expression. */
  query(expr: string, atSeconds?: number): Promise<readonly Sample[]>;
  /** The last value of every series in the last `seconds`, at intervals of `stepSeconds`. */
  queryRange(expr: string, seconds: number, stepSeconds: number): Promise<readonly Sample[]>;
  /** The `data` of a response from `/api/v1/…`. */
  api(path: string, parameters?: Readonly<Record<string, string>>): Promise<unknown>;
  stop(): Promise<void>;
}

/**
 * Starts a Prometheus and waits until it is ready, about half a second. Killed at the end of the test file if it still runs.
 */
export async function startPrometheus(options: PrometheusOptions): Promise<TestPrometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'prometheus-'));
  const url = `http://127.0.0.1:${await freePort()}`;
  const config = join(folder, 'prometheus.yml');
  // JSON is YAML too.
  writeFileSync(config, options.config ?? JSON.stringify(configOf(options)));
  const flags = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=${new URL(url).host}`,
    '--log.level=warn',
  ];
  const program = spawn('/usr/bin/setpriv', ['--pdeathsig', 'KILL', 'prometheus', ...flags], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  program.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const exited = once(program, 'close');

  const api = (path: string, parameters: Readonly<Record<string, string>> = {}): Promise<unknown> =>
    ask(new URL(`/api/v1/${path}?${new URLSearchParams(parameters).toString()}`, url));
  const started: TestPrometheus = {
    url,
    pid: program.pid ?? 0,
    api,
    async query(expr, atSeconds) {
      const time = atSeconds === undefined ? {} : { time: String(atSeconds) };
      return samplesOf(await api('query', { query: expr, ...time }));
    },
    async queryRange(expr, seconds, stepSeconds) {
      const end = Date.now() / 1000;
      const range = { start: String(end - seconds), end: String(end), step: String(stepSeconds) };
      return samplesOf(await api('query_range', { query: expr, ...range }));
    },
    async stop() {
      program.kill('SIGKILL');
      await exited;
      running.delete(started);
      rmSync(folder, { recursive: true, force: true });
    },
  };
  running.add(started);
  for (const deadline = performance.now() + START_MS; !(await isReady(url)); await sleep(50)) {
    if (program.exitCode === null && program.signalCode === null && performance.now() < deadline) continue;
    await started.stop();
    throw new Error(`Prometheus did not start; it said:\n${said}`);
  }
  return started;
}

const START_MS = 20_000;
const running = new Set<TestPrometheus>();

// Once per test file.
afterAll(async () => {
  await Promise.all(Array.from(running, (prometheus) => prometheus.stop()));
});

function configOf(options: PrometheusOptions): object {
  const interval = options.scrapeInterval ?? '2s';
  return {
    global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: interval },
    scrape_configs: Object.entries(options.scrape).map(([job, targets]) => ({
      job_name: job,
      static_configs: [{ targets }],
    })),
    rule_files: options.rules ?? [],
    alerting: { alertmanagers: [{ static_configs: [{ targets: options.alertmanagers ?? [] }] }] },
  };
}

async function isReady(url: string): Promise<boolean> {
  return fetch(new URL('/-/ready', url)).then(
    (answer) => answer.ok,
    () => false,
  );
}

async function ask(url: URL): Promise<unknown> {
  const body = answerShape.parse(await (await fetch(url)).json());
  if (body.status === 'success') return body.data;
  throw new Error(`Prometheus refused ${url.searchParams.get('query') ?? url.pathname}: ${body.error}`);
}

const answerShape = z.discriminatedUnion('status', [
  z.object({ status: z.literal('success'), data: z.unknown() }),
  z.object({ status: z.literal('error'), error: z.string() }),
]);

const pairShape = z.tuple([z.number(), z.string()]);
const labelsShape = z.record(z.string(), z.string());
const resultShape = z.discriminatedUnion('resultType', [
  z.object({ resultType: z.literal('scalar'), result: pairShape }),
  z.object({
    resultType: z.literal('vector'),
    result: z.array(z.object({ metric: labelsShape, value: pairShape })),
  }),
  z.object({
    resultType: z.literal('matrix'),
    result: z.array(z.object({ metric: labelsShape, values: z.array(pairShape).min(1) })),
  }),
]);

function samplesOf(data: unknown): readonly Sample[] {
  const parsed = resultShape.parse(data);
  switch (parsed.resultType) {
    case 'scalar':
      return [{ labels: {}, value: Number(parsed.result[1]) }];
    case 'vector':
      return parsed.result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
    case 'matrix':
      return parsed.result.map(({ metric, values }) => ({ labels: metric, value: Number(values.at(-1)?.[1]) }));
    default:
      return parsed satisfies never;
  }
}
