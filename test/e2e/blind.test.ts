import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { cardAt, defaultMachine, healthyMachine } from '../../src/stand-in/machine/build-machine.js';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { by } from '../support/metrics-page.js';

/** A machine whose nvidia-smi is missing, and an operator who said `TUNEPLANE_ADMIT_WHEN_BLIND`: the label books decide alone. */

const NONE = { free: 0, job_held: 0, external: 0, unhealthy: 0, excluded: 0, unknown: 0 };
const settings = { TUNEPLANE_ADMIT_WHEN_BLIND: 'true', TUNEPLANE_SCRAPE_MAX_AGE_MS: '0' };
const machine = defaultMachine();
const uuidOf = (index: number) => cardAt(machine, index).uuid;

let engine: Engine;
let gate: Gate;

beforeAll(async () => {
  engine = await startEngine();
});
afterEach(async () => {
  await gate?.stop();
  for (const { Id } of await engine.docker.listContainers({ all: true })) {
    await engine.docker.getContainer(Id).remove({ force: true });
  }
});
afterAll(async () => {
  await engine?.stop();
});

const admit = (runId: string, count: number, query = '') =>
  gate.post(`/admit${query}`, jobToPost(runId, count, { ulimits: { memlock: 65536 } }));
const containerOf = (runId: string) => engine.docker.getContainer(`tuneplane-${runId}`).inspect();
/** The ids in the one device request. */
const givenTo = async (runId: string) =>
  (await containerOf(runId)).HostConfig.DeviceRequests?.map((one) => one.DeviceIDs);

test('cards seen before are given out by their uuids, those that no label holds, and the answer says so', async () => {
  gate = await startGate({ engine, settings });
  expect((await gate.cards()).counts).toEqual({ ...NONE, free: 8 });
  // Over a restart: what this machine has is known from the state folder alone.
  const { stateDir } = gate;
  await gate.stop();
  gate = await startGate({ engine, settings, stateDir, nvidiaSmi: 'none' });
  expect((await gate.cards()).counts).toEqual({ ...NONE, unknown: 8 });
  expect((await gate.get('/readyz')).status).toBe(200);

  const answer = await admit('train-1', 2);
  expect(answer.status).toBe(201);
  expect(answer.body).toMatchObject({
    decision: 'admitted',
    gpus: [0, 1],
    cards: [{ uuid: uuidOf(0) }, { uuid: uuidOf(1) }],
    admitted_blind: true,
    explain: expect.stringContaining('could not see') as string,
  });
  expect(await givenTo('train-1')).toEqual([[uuidOf(0), uuidOf(1)]]);
  const { Config, State } = await containerOf('train-1');
  expect(State.Running).toBe(true);
  expect(Config.Labels).toMatchObject({
    'tuneplane.gpus': '0,1',
    'tuneplane.gpu-uuids': `${uuidOf(0)},${uuidOf(1)}`,
  });

  const page = await gate.metrics();
  expect(by(page, 'tuneplane_gpu_cards', 'state')).toEqual({ ...NONE, job_held: 2, unknown: 6 });
  expect(page.get('tuneplane_gpu_external_probe_ok')).toBe(0);
  expect((await admit('would', 6, '?dry_run=true')).body).toMatchObject({
    decision: 'would_admit',
    gpus: [2, 3, 4, 5, 6, 7],
    admitted_blind: true,
  });
  expect((await admit('seven', 7)).body).toMatchObject({
    decision: 'wait',
    free: 6,
    reasons: [{ code: 'job_held', cards: [0, 1] }],
  });
  expect((await admit('nine', 9)).body).toMatchObject({ code: 'unsatisfiable' });

  // What is seen again counts again, and what was given blindly is held.
  gate.setNvidiaSmi('stand-in');
  await expect.poll(async () => (await gate.cards()).counts).toEqual({ ...NONE, job_held: 2, free: 6 });
  const seen = (await admit('train-2', 2)).body;
  expect(seen).toMatchObject({ decision: 'admitted', gpus: [2, 3] });
  expect(seen).not.toHaveProperty('admitted_blind');
});

test('cards that were taken out are not given out blindly either', async () => {
  gate = await startGate({ engine, settings: { ...settings, TUNEPLANE_EXCLUDE_CARDS: `${uuidOf(1)},2` } });
  await gate.cards();
  expect((await gate.post(`/cards/${uuidOf(0)}/exclude`, { reason: 'smells' })).status).toBe(200);
  gate.setNvidiaSmi('none');
  expect((await gate.cards()).counts).toEqual({ ...NONE, excluded: 3, unknown: 5 });
  expect((await admit('five', 5)).body).toMatchObject({ decision: 'admitted', gpus: [3, 4, 5, 6, 7] });
  expect((await admit('six', 6)).body).toMatchObject({ code: 'unsatisfiable' });
});

test('cards that are only configured are given out by index, with an empty label of uuids that nobody knows', async () => {
  const counted = { ...settings, TUNEPLANE_LOCAL_GPU_COUNT: '4' };
  gate = await startGate({ engine, settings: counted, nvidiaSmi: 'none', machine: healthyMachine({ cards: 4 }) });
  const { cards, counts } = await gate.cards();
  expect(counts).toEqual({ ...NONE, unknown: 4 });
  expect(cards.map(({ index, uuid }) => [index, uuid])).toEqual([0, 1, 2, 3].map((index) => [index, null]));

  expect((await admit('train-1', 2)).body).toMatchObject({
    decision: 'admitted',
    gpus: [0, 1],
    cards: [
      { index: 0, uuid: null },
      { index: 1, uuid: null },
    ],
    admitted_blind: true,
  });
  expect(await givenTo('train-1')).toEqual([['0', '1']]);
  const { Labels } = (await containerOf('train-1')).Config;
  // Empty and there, so that an image's own label does not shine through.
  expect(Labels).toMatchObject({ 'tuneplane.gpus': '0,1', 'tuneplane.gpu-uuids': '' });

  expect((await gate.cards()).cards.map(({ state }) => state)).toEqual(['job_held', 'job_held', 'unknown', 'unknown']);
  expect((await admit('train-2', 2)).body).toMatchObject({ decision: 'admitted', gpus: [2, 3] });
  expect((await admit('train-1', 2)).body).toMatchObject({ replayed: true, gpus: [0, 1] });
  expect((await admit('train-3', 1)).body).toMatchObject({
    decision: 'wait',
    free: 0,
    reasons: [{ code: 'job_held', cards: [0, 1, 2, 3] }],
  });
  expect((await admit('five', 5)).body).toMatchObject({ code: 'unsatisfiable' });

  // The driver comes: the cards have names now, and the jobs hold them all the same.
  gate.setNvidiaSmi('stand-in');
  await expect.poll(async () => (await gate.cards()).probes.gpus.ok).toBe(true);
  const named = (await gate.cards()).cards;
  expect(named.map(({ state, held_by }) => [state, held_by?.run_id])).toEqual([
    ['job_held', 'train-1'],
    ['job_held', 'train-1'],
    ['job_held', 'train-2'],
    ['job_held', 'train-2'],
  ]);
  expect(named.map(({ uuid }) => uuid)).toEqual([0, 1, 2, 3].map(uuidOf));
});

test('where no card was ever seen and none is configured, every request waits, even with that setting', async () => {
  gate = await startGate({ engine, settings, nvidiaSmi: 'none' });
  expect((await gate.cards()).cards).toEqual([]);
  for (const count of [1, 1_000_000]) {
    const answer = await admit('train-1', count);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ decision: 'wait', free: 0, reasons: [{ code: 'probe_blind', cards: [] }] });
  }
  expect((await admit('no-cards', 0)).body).toMatchObject({ decision: 'admitted', gpus: [] });
  expect(await engine.environOf((await containerOf('no-cards')).Id)).toMatchObject({ NVIDIA_VISIBLE_DEVICES: 'void' });
});

test('without that setting, nothing is given out and the gate is not ready', async () => {
  gate = await startGate({
    engine,
    settings: { TUNEPLANE_LOCAL_GPU_COUNT: '4', TUNEPLANE_SCRAPE_MAX_AGE_MS: '0' },
    nvidiaSmi: 'none',
  });
  expect((await admit('train-1', 1)).body).toMatchObject({
    decision: 'wait',
    free: 0,
    reasons: [{ code: 'probe_blind', cards: [0, 1, 2, 3] }],
  });
  expect((await gate.get('/readyz')).status).toBe(503);
  expect(await engine.docker.listContainers({ all: true })).toEqual([]);
});
