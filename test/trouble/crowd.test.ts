import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { freePort } from '../support/services/redis.js';
import { startFakeEngine, type FakeEngine } from './fake-engine.js';

/**
 * A crowd before both doors that says nothing, scrapes without reading, and sends bodies byte by byte: the gate's memory stays what
 * it is, and whoever behaves gets every answer. Small here; `CROWD=2000 CROWD_SECONDS=60 npx vitest run test/trouble/crowd.test.ts` is the
 * large one, and prints what it measured.
 */

const IDLE = Number(process.env['CROWD'] ?? 150);
const SECONDS = Number(process.env['CROWD_SECONDS'] ?? 2);
const OTHERS = Math.ceil(IDLE / 20);
const MOST_MIB = 150;

let docker: FakeEngine;
let gate: Gate;
let metricsUrl: string;
beforeAll(async () => {
  docker = await startFakeEngine();
  metricsUrl = `http://127.0.0.1:${await freePort()}`;
  const settings = { TUNEPLANE_METRICS_LISTEN: new URL(metricsUrl).host };
  gate = await startGate({ engine: docker, settings });
});
afterAll(async () => {
  await gate?.stop();
  await docker?.stop();
});

const CROWD = fileURLToPath(new URL('crowd.mjs', import.meta.url));

async function crowd(url: string): Promise<() => Promise<string>> {
  const args = [CROWD, new URL(url).host, String(IDLE), String(OTHERS), String(OTHERS)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (chunk) => (said += String(chunk)));
  await expect.poll(() => said, { timeout: 100_000 }).toContain('here\n');
  return async () => {
    child.kill('SIGTERM');
    await once(child, 'close');
    return said.split('\n')[1] ?? '';
  };
}

/** What one who behaves was told by each listener, over new connections and over a kept one. */
interface Told {
  readonly answered: number;
  readonly refused: readonly string[];
  readonly tookMs: readonly number[];
}

interface Honest {
  readonly told: Readonly<Record<string, Told>>;
  /** How late the asking process itself was at most, which is part of what it measured. */
  readonly ownLagMs: number;
}

const HONEST = fileURLToPath(new URL('honest.mjs', import.meta.url));

/** In a process of its own, which says "asking" when all have been answered once. */
async function honest(urls: readonly string[]): Promise<{ enough: () => Promise<Honest> }> {
  const child = spawn(process.execPath, [HONEST, ...urls], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (chunk) => (said += String(chunk)));
  await expect.poll(() => said, { timeout: 100_000 }).toContain('asking\n');
  return {
    async enough() {
      child.kill('SIGTERM');
      await once(child, 'close');
      return JSON.parse(said.slice(said.indexOf('{'))) as Honest;
    },
  };
}

function figures({ answered, tookMs }: Told): string {
  const sorted = tookMs.toSorted((a, b) => a - b);
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);
  return `${answered} answers, p50 ${at(0.5)}, p99 ${at(0.99)}, most ${at(1)} ms`;
}

function residentMib(): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${gate.pid}/status`, 'utf8'))?.[1]) / 1024;
}

test(
  `${IDLE} silent connections on each listener, ${OTHERS} pipelines that nobody reads and ${OTHERS} slow bodies`,
  async () => {
    const before = residentMib();
    const leave = await Promise.all([crowd(gate.url), crowd(metricsUrl)]);
    const ask = await honest([gate.url, metricsUrl]);
    let mostMib = 0;
    for (const end = performance.now() + SECONDS * 1000; performance.now() < end; await sleep(100)) {
      mostMib = Math.max(mostMib, residentMib());
    }
    const { told, ownLagMs } = await ask.enough();
    expect((await call(new URL('/metrics', metricsUrl))).text).toContain('tuneplane_gpu_external_probe_ok 1');
    expect((await gate.post('/admit?dry_run=true', jobToPost('train', 2))).status).toBe(200);
    const cutOff = await Promise.all(leave.map((each) => each()));
    if (process.env['CROWD'] !== undefined) {
      console.log(
        `resident ${before.toFixed(0)} MiB before, ${mostMib.toFixed(0)} at most; ${cutOff.join(' and ')}\n` +
          Object.entries(told)
            .map(([name, each]) => `/healthz of ${name}: ${figures(each)}\n`)
            .join('') +
          `the one who asked was late by ${ownLagMs.toFixed(0)} ms at most`,
      );
    }
    for (const { answered, refused } of Object.values(told)) {
      expect(refused).toEqual([]);
      expect(answered).toBeGreaterThan(0);
    }
    expect(mostMib).toBeLessThan(MOST_MIB);
  },
  120_000 + SECONDS * 2000,
);
