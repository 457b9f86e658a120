import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { by } from '../support/metrics-page.js';

const run = promisify(execFile);

/** The main job of the gate, as a console and a Prometheus see it: real Docker Engine, the stand-in with 8 cards, the built program. */
describe('a gate on a machine with 8 cards', () => {
  let engine: Engine;
  let gate: Gate;
  const request = {
    run_id: 'train-17',
    count: 2,
    container: {
      image: 'gate-test:latest',
      command: ['sleep', '600'],
      env: { EPOCHS: '3' },
      labels: { team: 'vision' },
    },
  };

  beforeAll(async () => {
    engine = await startEngine();
    gate = await startGate({ engine });
  });
  afterAll(async () => {
    await gate?.stop();
    await engine?.stop();
  });

  test('shows all of them free, on a page that promtool has nothing to say about', async () => {
    const cards = await gate.cards();
    expect(cards.counts).toMatchObject({ free: 8, job_held: 0 });
    expect(by(await gate.metrics(), 'tuneplane_gpu_cards', 'state')).toMatchObject({ free: 8, unknown: 0 });
    const page = await fetch(`${gate.url}/metrics`).then((answer) => answer.text());
    const checked = run('promtool', ['check', 'metrics']);
    checked.child.stdin?.end(page);
    const { stdout, stderr } = await checked;
    expect(stdout + stderr).toBe('');
  });

  test('starts a job of 2 cards with one device request of two uuids', async () => {
    const answer = await gate.post('/admit', request);
    expect(answer.status).toBe(201);
    expect(answer.headers['location']).toBe('/runs/train-17');
    expect(answer.body).toMatchObject({ decision: 'admitted', replayed: false, run_id: 'train-17', gpus: [0, 1] });

    const container = await engine.docker.getContainer('tuneplane-train-17').inspect();
    const uuids = (answer.body as { cards: { uuid: string }[] }).cards.map(({ uuid }) => uuid);
    expect(container.State.Running).toBe(true);
    expect(container.HostConfig.DeviceRequests).toHaveLength(1);
    expect(container.HostConfig.DeviceRequests).toMatchObject([
      { Driver: 'nvidia', Count: 0, DeviceIDs: uuids, Capabilities: [['gpu']] },
    ]);
    expect(await engine.environOf(container.Id)).toMatchObject({
      NVIDIA_VISIBLE_DEVICES: uuids.join(','),
      CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
      EPOCHS: '3',
    });
  });

  test('shows both cards held, on /cards, /metrics and /runs', async () => {
    const { cards } = await gate.cards();
    expect(cards.slice(0, 3).map(({ state }) => state)).toEqual(['job_held', 'job_held', 'free']);
    expect(cards[0]?.held_by).toMatchObject({
      run_id: 'train-17',
      state: 'running',
      principal: 'local',
      labels: { team: 'vision' },
    });
    expect(by(await gate.metrics(), 'tuneplane_gpu_cards', 'state')).toMatchObject({ free: 6, job_held: 2 });
    expect((await gate.get('/runs/train-17')).body).toMatchObject({ run_id: 'train-17', state: 'running' });
  });

  test('answers the same request again with replayed, and another one of the same name with run_id_reused', async () => {
    expect((await gate.post('/admit', request)).body).toMatchObject({
      decision: 'admitted',
      replayed: true,
      gpus: [0, 1],
    });
    const other = await gate.post('/admit', { ...request, count: 1 });
    expect(other.status).toBe(422);
    expect(other.body).toMatchObject({ code: 'run_id_reused', retryable: false });
  });

  test('has the same picture after a restart', async () => {
    const before = (await gate.cards()).cards;
    const { stateDir } = gate;
    expect(await gate.stop()).toMatchObject({ code: 0 });
    gate = await startGate({ engine, stateDir });
    expect((await gate.cards()).cards).toEqual(before);
    expect((await gate.post('/admit', request)).body).toMatchObject({ replayed: true, gpus: [0, 1] });
  });

  test('refuses to remove a live run, frees the cards when it has ended, and then removes it', async () => {
    expect((await gate.call('/runs/train-17', { method: 'DELETE' })).body).toMatchObject({ code: 'run_alive' });
    await engine.docker.getContainer('tuneplane-train-17').kill();
    await engine.docker.getContainer('tuneplane-train-17').wait();
    await expect.poll(async () => (await gate.cards()).counts.free).toBe(8);
    expect((await gate.post('/admit', request)).body).toMatchObject({
      decision: 'ended',
      run: { state: 'exited', exit_code: 137 },
    });
    expect((await gate.call('/runs/train-17', { method: 'DELETE' })).status).toBe(204);
    expect((await gate.get('/runs/train-17')).status).toBe(404);
  });
});
