import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { canFreeze, freeze, type Frozen } from '../support/freezer.js';
import { startGate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { by, seriesName } from '../support/metrics-page.js';

/**
 * nvidia-smi stuck so that it cannot be killed, as in the driver of a card that is broken. In a frozen control group a process
 * does not die of SIGKILL until it is thawed. Where no group can be frozen, what the program leaves behind escapes the
 * signal and holds its output: not gone either, and nobody can know that it is not stuck.
 */

const folder = mkdtempSync(join(tmpdir(), 'stuck-'));
const runs = join(folder, 'runs');
const goAway = join(folder, 'go-away');
let frozen: Frozen | null = null;

const ESCAPE = `setsid sh -c 'until [ -e "${goAway}" ]; do sleep 0.1; done' &`;
/** Notes its pid and what it was asked, and hangs. */
const stuck = { script: `echo "$$ $1" >> "${runs}"\n${canFreeze ? '' : ESCAPE}\nexec sleep 3600` };
const settings = { TUNEPLANE_PROBE_TIMEOUT_S: '2', TUNEPLANE_SCRAPE_MAX_AGE_MS: '0' };
const KINDS = ['--query-compute-apps', '--query-gpu'];
const NONE = { free: 0, job_held: 0, external: 0, unhealthy: 0, excluded: 0, unknown: 0 };

let engine: Engine;

beforeAll(async () => {
  engine = await startEngine();
});
beforeEach(() => {
  rmSync(runs, { force: true });
  rmSync(goAway, { force: true });
});
afterAll(async () => {
  await engine?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a stuck nvidia-smi is never joined by a second one, every page comes at once, and sight returns when it goes', async () => {
  const gate = await startGate({ engine, settings });
  await expect.poll(async () => (await gate.cards()).counts.free).toBe(8);
  gate.setNvidiaSmi(stuck);
  const looking = gate.metrics();
  await hold();
  try {
    const page = await looking;
    expect(page.get('tuneplane_gpu_probe_success{probe="gpus"}')).toBe(0);
    expect(page.get(failures('timeout'))).toBe(1);
    expect(page.get(failures('overlap'))).toBe(0);

    for (const look of [1, 2, 3]) {
      const began = performance.now();
      const next = await gate.metrics();
      // At once: nobody waits for the stuck one, and far below the limit of a probe.
      expect(performance.now() - began).toBeLessThan(1500);
      expect(next.get(failures('overlap'))).toBe(look);
      expect(next.get('tuneplane_gpu_external_probe_ok')).toBe(0);
      expect(by(next, 'tuneplane_gpu_cards', 'state')).toEqual({ ...NONE, unknown: 8 });
    }
    // A program that works now is not tried either: it would go into the same driver.
    gate.setNvidiaSmi('stand-in');
    const { probes } = await gate.cards();
    expect(probes.gpus).toMatchObject({ ok: false, why: 'overlap' });
    for (const pid of pids()) expect(probes.gpus.detail + (probes.processes.detail ?? '')).toContain(String(pid));
    expect((await gate.post('/admit', jobToPost('next'))).body).toMatchObject({
      decision: 'wait',
      reasons: [{ code: 'probe_blind' }],
    });
    expect((await gate.get('/readyz')).status).toBe(503);
    expect(asked()).toEqual(KINDS);
    if (canFreeze) for (const pid of pids()) expect(existsSync(`/proc/${pid}`)).toBe(true);
  } finally {
    await letGo();
  }
  await expect.poll(async () => (await gate.cards()).counts.free).toBe(8);
  expect((await gate.get('/readyz')).status).toBe(200);
  expect(asked()).toEqual(KINDS);
  expect(await gate.stop()).toEqual({ code: 0, signal: null });
});

test('a gate beside a stuck nvidia-smi ends in good order, and another one starts', async () => {
  const gate = await startGate({ engine, settings, nvidiaSmi: stuck });
  await hold();
  try {
    await expect.poll(async () => (await gate.cards()).probes.gpus.why).toBe('overlap');
    expect(await gate.stop()).toEqual({ code: 0, signal: null });
    const next = await startGate({ engine, settings, stateDir: gate.stateDir });
    expect((await next.cards()).counts.free).toBe(8);
    expect(await next.stop()).toEqual({ code: 0, signal: null });
  } finally {
    await letGo();
  }
});

/** Waits until both programs of a look hang, and makes them outlive SIGKILL. */
async function hold(): Promise<void> {
  await expect.poll(asked).toEqual(KINDS);
  if (canFreeze) frozen = freeze(pids());
}

async function letGo(): Promise<void> {
  writeFileSync(goAway, '');
  await frozen?.release();
  frozen = null;
}

function lines(): readonly string[] {
  return existsSync(runs) ? readFileSync(runs, 'utf8').split('\n').slice(0, -1) : [];
}

const asked = () =>
  lines()
    .map((line) => line.replace(/^\d+ /, '').replace(/=.*$/, ''))
    .toSorted();
const pids = () => lines().map((line) => Number.parseInt(line, 10));
const failures = (reason: string) => seriesName('tuneplane_gpu_probe_failures_total', { probe: 'gpus', reason });
