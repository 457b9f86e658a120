import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { by } from '../support/metrics-page.js';
import { startRedis, type TestRedis } from '../support/services/redis.js';

/**
 * A gate that has worked holds no more than one that has just begun: memory, handles, timers. Small here; how it was with more
 * is found out by `GROWTH_SCRAPES=50000 GROWTH_DECISIONS=5000 npx vitest run test/trouble/growth.test.ts`, which prints
 * a table.
 */

const SCRAPES = Number(process.env['GROWTH_SCRAPES'] ?? 1500);
const DECISIONS = Number(process.env['GROWTH_DECISIONS'] ?? 150);
const LARGE = SCRAPES > 1500;
const STEPS = LARGE ? 10 : 1;
/** Two of each round are started and taken away again, which takes most of its time. */
const ROUND = LARGE ? 100 : 30;
const OTHERS = (ROUND - 2) / 7;

let engine: Engine;
let redis: TestRedis;
let gate: Gate;

beforeAll(async () => {
  [engine, redis] = await Promise.all([startEngine(), startRedis()]);
  const preload = fileURLToPath(new URL('collect-on-signal.cjs', import.meta.url));
  gate = await startGate({
    engine,
    redisUrl: redis.url,

    settings: { NODE_OPTIONS: `--require=${preload}`, TUNEPLANE_SCRAPE_MAX_AGE_MS: '100' },
  });
});
afterAll(async () => {
  await gate?.stop();
  await redis?.stop();
  await engine?.stop();
});

/** One round, of every kind of decision there is. All but the two that are started leave nothing. */
async function decide(round: number): Promise<void> {
  const name = (what: string) => `${what}-${round}`;
  const started = await gate.post('/admit', jobToPost(name('train'), 1, { command: ['true'] }));
  const none = gate.post('/admit', jobToPost(name('none'), 0, { command: ['true'] }));
  const others = Array.from({ length: OTHERS }, (_, at) => [
    gate.post('/admit', jobToPost(name(`waits-${at}`), 8)),
    gate.post('/admit', jobToPost(name(`waits-too-${at}`), 8)),
    gate.post('/admit?dry_run=true', jobToPost(name(`dry-${at}`), 2)),
    gate.post('/admit', jobToPost(name(`too-many-${at}`), 9)),
    gate.post('/admit', { run_id: name(`wrong-${at}`), count: '1' }),
    gate.post('/admit', jobToPost(name('train'), 2)),
    gate.post('/admit', jobToPost(name(`denied-${at}`), 1, { network: 'host' })),
  ]);
  expect([started.status, (await none).status]).toEqual([201, 201]);
  for (const each of others) {
    expect((await Promise.all(each)).map(({ status }) => status)).toEqual([200, 200, 200, 422, 400, 422, 403]);
  }
  for (const run of [name('train'), name('none')]) {
    await expect.poll(async () => (await gate.call(`/runs/${run}`, { method: 'DELETE' })).status).toBe(204);
  }
}

/** As many rounds as it takes; the scrapes are spread over them. */
async function work(scrapes: number, decisions: number, from: number): Promise<void> {
  const rounds = Math.ceil(decisions / ROUND);
  for (let round = 0; round < rounds; round++) {
    await decide(from + round);
    const share = Math.round(scrapes / rounds);
    for (let done = 0; done < share; done += 20) {
      await Promise.all(Array.from({ length: Math.min(20, share - done) }, () => gate.get('/metrics')));
    }
  }
}

interface Weight {
  readonly residentMib: number;
  readonly heapMib: number;
  /** Open handles by their kind: sockets, pipes, child processes. */
  readonly handles: Readonly<Record<string, number>>;
  /** Timers that are set. */
  readonly timers: number;
  readonly fileDescriptors: number;
}

/** Idle connections to Docker are kept for 5 s (Node's own agent), and are no handles meanwhile, but file descriptors. */
const REST_MS = LARGE ? 6000 : 1000;

/** At rest, and with the garbage collected. */
async function weigh(): Promise<Weight> {
  await sleep(REST_MS);
  process.kill(gate.pid, 'SIGUSR2');
  await sleep(300);
  const page = await gate.metrics();
  const of = (name: string) => page.get(name) ?? Number.NaN;
  return {
    residentMib: Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${gate.pid}/status`, 'utf8'))?.[1]) / 1024,
    heapMib: of('nodejs_heap_size_used_bytes') / 2 ** 20,
    handles: by(page, 'nodejs_active_handles', 'type'),
    timers: by(page, 'nodejs_active_resources', 'type')['Timeout'] ?? 0,
    fileDescriptors: of('process_open_fds'),
  };
}

const summed = (handles: Weight['handles']) => Object.values(handles).reduce((sum, each) => sum + each, 0);

const HEAD =
  '| scrapes | decisions | resident MiB | heap MiB | handles | timers | file descriptors |\n|---|---|---|---|---|---|---|';

function asRow(scrapes: number, decisions: number, weight: Weight): string {
  const { residentMib, heapMib, handles, timers, fileDescriptors } = weight;
  const figures = [
    scrapes,
    decisions,
    residentMib.toFixed(1),
    heapMib.toFixed(2),
    summed(handles),
    timers,
    fileDescriptors,
  ];
  return `| ${figures.join(' | ')} |`;
}

test('memory, handles and timers are after the work what they were before it', { timeout: 1_200_000 }, async () => {
  // Holds a card all the time, so that who asks for all of them waits.
  expect((await gate.post('/admit', jobToPost('holder', 1, { command: ['sleep', '86400'] }))).status).toBe(201);
  // What is only made once, is made: code is compiled, scripts are loaded, connections are open.
  await work(200, 60, 0);
  const before = await weigh();
  if (LARGE) console.log(`${HEAD}\n${asRow(0, 0, before)}`);
  let after = before;
  for (let step = 1; step <= STEPS; step++) {
    await work(SCRAPES / STEPS, DECISIONS / STEPS, step * 1000);
    after = await weigh();
    if (LARGE) console.log(asRow((SCRAPES * step) / STEPS, (DECISIONS * step) / STEPS, after));
  }
  // One more or less is a connection to Docker that is kept or not; what is not kept for ever goes within seconds.
  const most = summed(before.handles) + 3;
  for (let patience = 0; summed(after.handles) > most && patience < 10; patience++) after = await weigh();
  expect(summed(after.handles)).toBeLessThanOrEqual(most);
  expect(after.timers).toBeLessThanOrEqual(before.timers + 3);
  if (LARGE) expect(after.fileDescriptors).toBeLessThanOrEqual(before.fileDescriptors + 5);
  expect(after.heapMib).toBeLessThan(before.heapMib + 5);
  expect(after.residentMib).toBeLessThan(before.residentMib + 60);
  expect(await engine.docker.listContainers({ all: true })).toHaveLength(1);
  expect((await gate.metrics()).get('tuneplane_gpu_admissions_in_flight')).toBe(0);
});
