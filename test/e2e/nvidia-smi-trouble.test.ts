import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { cardAt, defaultMachine } from '../../src/stand-in/machine/build-machine.js';
import type { Machine } from '../../src/stand-in/machine/machine.js';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { by, seriesName, type MetricsPage } from '../support/metrics-page.js';
import { createStandInLog } from '../support/stand-in-log.js';

/** Everything that nvidia-smi does on a bad day, under a job that holds cards 0 and 1 through all of it. */

// A stand-in that starts on a busy machine has taken two.
const TIMEOUT_S = 5;
const log = createStandInLog();
const settings = {
  TUNEPLANE_PROBE_TIMEOUT_S: String(TIMEOUT_S),
  TUNEPLANE_SCRAPE_MAX_AGE_MS: '0',
  STAND_IN_LOG: log.path,
};
const job = jobToPost('train-1', 2, { ulimits: { memlock: 65536 } });
const well = defaultMachine();

let engine: Engine;
let gate: Gate;

beforeAll(async () => {
  engine = await startEngine();
  gate = await startGate({ engine, settings });
  expect((await gate.post('/admit', job)).body).toMatchObject({ decision: 'admitted', gpus: [0, 1] });
});
afterEach(() => mend());
afterAll(async () => {
  await gate?.stop();
  await engine?.stop();
  log.remove();
});

type Break = (machine: Machine) => void;
interface Trouble {
  readonly why: string;
  readonly words: RegExp;
  /** Whether the process list can still be had. */
  readonly processes: 0 | 1;
  readonly happen: () => void;
}

const machine = (change: Break) => (): void => {
  const broken = defaultMachine();
  change(broken);
  gate.setMachine(broken);
};
function mend(): void {
  gate.setNvidiaSmi('stand-in');
  gate.setMachine(well);
}
const fault = (kind: Machine['fault']) => machine((broken) => (broken.fault = kind));

test.each<[string, Trouble]>([
  ['missing', { why: 'spawn', words: /is it installed/, processes: 0, happen: () => gate.setNvidiaSmi('none') }],
  [
    'exiting 9, for the driver is not loaded',
    { why: 'exit', words: /NVIDIA driver.*exit code 9\b/, processes: 0, happen: fault('driver_not_loaded') },
  ],
  [
    'exiting 15, for a card is lost before any can be asked',
    { why: 'exit', words: /GPU is lost.*exit code 15\b/, processes: 0, happen: fault('init_gpu_lost') },
  ],
  [
    'exiting 18, for driver and library differ',
    { why: 'exit', words: /version mismatch.*exit code 18\b/, processes: 0, happen: fault('library_mismatch') },
  ],
  [
    'exiting 255, for nobody knows why',
    { why: 'exit', words: /Unknown Error.*exit code 255\b/, processes: 0, happen: fault('init_unknown_error') },
  ],
  [
    'printing half its rows and exiting 255',
    {
      why: 'exit',
      words: /Unknown Error.*exit code 255\b/,
      processes: 1,
      happen: machine((broken) => (broken.raw.gpu = { kind: 'cut', rows: 4, end: 'Unknown Error\n', rc: 255 })),
    },
  ],
  [
    'exiting 0 without a row',
    {
      why: 'parse',
      words: /expected a row for each card/,
      processes: 1,
      happen: machine((broken) => (broken.raw.gpu = { kind: 'verbatim', stdout: '', rc: 0 })),
    },
  ],
  [
    'printing half its rows and hanging',
    { why: 'timeout', words: /did not end/, processes: 1, happen: machine((broken) => (broken.hang = { at: 4 })) },
  ],
  [
    'hanging before its first row, whatever it is asked',
    { why: 'timeout', words: /did not end/, processes: 0, happen: machine((broken) => (broken.hang = { at: 'init' })) },
  ],
])('nvidia-smi %s: blind by that reason, nothing handed out, and well again by itself', async (_says, trouble) => {
  const before = await untilWell();
  const processes = log.watch();
  trouble.happen();
  const [page, cards, ready] = await Promise.all([gate.metrics(), gate.cards(), gate.get('/readyz')]);

  expect(by(page, 'tuneplane_gpu_probe_success', 'probe')).toEqual({
    gpus: 0,
    health: 0,
    processes: trouble.processes,
    docker: 1,
  });
  expect(page.get('tuneplane_gpu_external_probe_ok')).toBe(0);
  expect(reasonsThatGrew(before, page)).toEqual([trouble.why]);
  expect(lastSuccess(page)).toBe(lastSuccess(before));
  expect(by(page, 'tuneplane_gpu_cards', 'state')).toEqual({ ...NONE, job_held: 2, unknown: 6 });
  expect(page.get('tuneplane_gpu_cards_expected')).toBe(8);

  expect(cards.cards.map(({ state }) => state)).toEqual([...twice('job_held'), ...Array<string>(6).fill('unknown')]);
  // A card that cannot be seen keeps its name, and no reading of the last look stands in for one of this.
  expect(cards.cards.map(({ uuid }) => uuid)).toEqual(well.cards.map(({ uuid }) => uuid));
  expect(cards.cards.map((card) => card.memory_used_bytes)).toEqual(Array(8).fill(null));
  expect(page.has(seriesName('tuneplane_gpu_card_memory_used_bytes', { uuid: uuidOf(2), index: '2' }))).toBe(false);
  expect(cards.probes.gpus).toMatchObject({ ok: false, why: trouble.why });
  expect(cards.probes.gpus.detail).toMatch(trouble.words);
  expect(cards.explain).toContain(cards.probes.gpus.detail);

  expect(ready.status).toBe(503);
  expect(ready.body).toMatchObject({ ready: false, parts: { runtime: { ok: true }, probe: { ok: false } } });
  expect(ready.text).toMatch(trouble.words);

  const answer = await gate.post('/admit', jobToPost('next'));
  expect(answer.status).toBe(200);
  expect(answer.headers['retry-after']).toBe('5');
  expect(answer.body).toMatchObject({
    decision: 'wait',
    free: 0,
    reasons: [
      { code: 'job_held', cards: [0, 1] },
      { code: 'probe_blind', cards: [2, 3, 4, 5, 6, 7] },
    ],
  });
  expect(processes.stop()).toBeLessThanOrEqual(1);
  // Or its place would keep a card for it.
  expect((await gate.call('/runs/next?waiting=true', { method: 'DELETE' })).status).toBe(204);

  mend();
  expect(lastSuccess(await untilWell())).toBeGreaterThan(lastSuccess(before));
  expect((await gate.get('/readyz')).status).toBe(200);
  expect(await wouldGet(2)).toMatchObject({ decision: 'would_admit', gpus: [2, 3] });
  await expect.poll(() => log.alive().size).toBe(0);
});

test('a scrape that may take 2 s is answered within them with the last look and its true time; past its own limit it is blind', async () => {
  const before = await untilWell();
  machine((broken) => (broken.hang = { at: 'init' }))();
  const began = performance.now();
  const answer = await gate.get('/metrics', { 'x-prometheus-scrape-timeout-seconds': '2' });
  const tookMs = performance.now() - began;
  expect(answer.status).toBe(200);
  expect(answer.text).toContain('tuneplane_gpu_probe_success{probe="gpus"} 1');
  expect(answer.text).toContain('tuneplane_gpu_cards{state="free"} 6');
  const lookedAt = Number(/^tuneplane_gpu_snapshot_timestamp_seconds (\S+)$/m.exec(answer.text)?.[1]);
  expect(lookedAt).toBeLessThan(Date.now() / 1000 - 1);
  expect(tookMs).toBeLessThan(2000);
  await expect.poll(async () => reasonsThatGrew(before, await gate.metrics())).toEqual(['timeout']);
  mend();
  await untilWell();
});

test('a process list that cannot be had costs its own flag and no card', async () => {
  machine((broken) => (broken.hang = { at: 'init', kinds: ['apps'] }))();
  const page = await gate.metrics();
  expect(by(page, 'tuneplane_gpu_probe_success', 'probe')).toEqual({ gpus: 1, health: 1, processes: 0, docker: 1 });
  expect(page.get('tuneplane_gpu_external_probe_ok')).toBe(1);
  expect(by(page, 'tuneplane_gpu_cards', 'state')).toEqual({ ...NONE, job_held: 2, free: 6 });
  mend();
  await untilWell();
});

test('one card whose handle is lost is one card: it is unhealthy in the words of the driver, the others are given out', async () => {
  machine((broken) => {
    for (const at of [1, 4]) cardAt(broken, at).fault = { kind: 'handle', error: 'lost' };
  })();
  const { cards, counts, probes, external_probe_ok } = await gate.cards();
  expect(counts).toEqual({ ...NONE, job_held: 2, unhealthy: 1, free: 5 });
  expect({ gpus: probes.gpus.ok, external: external_probe_ok }).toEqual({ gpus: true, external: true });
  const { uuid, name, bus_id } = cardAt(well, 4);
  expect(cards[4]).toMatchObject({ index: 4, uuid, name, pci_bus_id: bus_id, state: 'unhealthy' });
  expect(cards[4]?.unhealthy).toMatchObject([
    { reason: 'driver_error', detail: expect.stringContaining('GPU is lost') as string },
  ]);
  // What the driver says of a card that a job holds is kept beside the job.
  expect(cards[1]).toMatchObject({ state: 'job_held', unhealthy: [{ reason: 'driver_error' }] });
  const page = await gate.metrics();
  for (const index of [1, 4]) {
    const labels = { uuid: uuidOf(index), index: String(index), reason: 'driver_error' };
    expect(page.get(seriesName('tuneplane_gpu_card_unhealthy', labels))).toBe(1);
  }
  expect(await wouldGet(5)).toMatchObject({ decision: 'would_admit', gpus: [2, 3, 5, 6, 7] });
  expect(await wouldGet(6)).toMatchObject({
    decision: 'would_wait',
    free: 5,
    reasons: [
      { code: 'job_held', cards: [0, 1] },
      { code: 'unhealthy', cards: [4] },
    ],
  });
  mend();
  await untilWell();
});

test('a card that is gone from the bus stays missing over a restart, until it is forgotten', async () => {
  const gone = uuidOf(3);
  const shown = async () => (await gate.cards()).cards.find(({ uuid }) => uuid === gone);
  const missing = { uuid: gone, index: null, name: cardAt(well, 3).name, state: 'unhealthy' };
  const refused = await gate.post(`/cards/${gone}/forget`);
  expect(refused.status).toBe(409);
  expect(refused.body).toMatchObject({ code: 'card_present' });

  const smaller = defaultMachine();
  cardAt(smaller, 3).fault = { kind: 'gone' };
  gate.setMachine(smaller);
  expect(await shown()).toMatchObject({ ...missing, unhealthy: [{ reason: 'missing' }] });
  expect((await gate.cards()).counts).toEqual({ ...NONE, job_held: 2, unhealthy: 1, free: 5 });
  // The indices of the cards behind it have moved; the names have not.
  expect((await gate.cards()).cards[3]).toMatchObject({ index: 3, uuid: uuidOf(4), state: 'free' });

  const { stateDir } = gate;
  expect(await gate.stop()).toMatchObject({ code: 0 });
  gate = await startGate({ engine, stateDir, settings, machine: smaller });
  expect(await shown()).toMatchObject({ ...missing, unhealthy: [{ reason: 'missing' }] });
  expect(await wouldGet(6)).toMatchObject({ decision: 'would_wait' });

  expect((await gate.post(`/cards/${gone}/forget`)).status).toBe(204);
  expect(await shown()).toBeUndefined();
  expect((await gate.cards()).counts).toEqual({ ...NONE, job_held: 2, free: 5 });
  expect([...(await gate.metrics()).keys()].filter((series) => series.includes(gone))).toEqual([]);
  expect((await gate.post(`/cards/${gone}/forget`)).status).toBe(404);
  expect((await gate.post('/admit', jobToPost('eight', 8))).body).toMatchObject({ code: 'unsatisfiable' });

  mend();
  await untilWell();
});

test('the job has run through all of this', async () => {
  expect((await gate.post('/admit', job)).body).toMatchObject({ decision: 'admitted', replayed: true, gpus: [0, 1] });
  expect((await engine.docker.getContainer('tuneplane-train-1').inspect()).State.Running).toBe(true);
});

const NONE = { free: 0, job_held: 0, external: 0, unhealthy: 0, excluded: 0, unknown: 0 };
const PROBE = { probe: 'gpus' };
const uuidOf = (index: number) => cardAt(well, index).uuid;
const twice = <T>(value: T) => [value, value];

/** The page of a look in which all is as it should be. */
async function untilWell(): Promise<MetricsPage> {
  const healthy = { ...NONE, job_held: 2, free: 6 };
  let page = await gate.metrics();
  const states = async () => by((page = await gate.metrics()), 'tuneplane_gpu_cards', 'state');
  await expect.poll(states, { timeout: 15_000 }).toEqual(healthy);
  expect(page.get(seriesName('tuneplane_gpu_probe_success', PROBE))).toBe(1);
  expect(page.get('tuneplane_gpu_external_probe_ok')).toBe(1);
  return page;
}

/** `overlap` apart: on a machine out of breath a run that was killed may not be reaped when the next look comes. */
function reasonsThatGrew(before: MetricsPage, after: MetricsPage): readonly string[] {
  const failed = (page: MetricsPage, reason: string) =>
    page.get(seriesName('tuneplane_gpu_probe_failures_total', { ...PROBE, reason })) ?? Number.NaN;
  const reasons = ['spawn', 'exit', 'timeout', 'parse', 'overlap', 'unavailable'];
  return reasons.filter((reason) => reason !== 'overlap' && failed(after, reason) !== failed(before, reason));
}

function lastSuccess(page: MetricsPage): number {
  return page.get(seriesName('tuneplane_gpu_probe_last_success_timestamp_seconds', PROBE)) ?? Number.NaN;
}

async function wouldGet(count: number): Promise<unknown> {
  return (await gate.post('/admit?dry_run=true', jobToPost('would', count))).body;
}
