import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LABEL } from '../../src/model/labels.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { engineContainer, startFakeEngine, type EngineContainer, type FakeEngine } from './fake-engine.js';

/** States and numbers of containers that no real engine can be brought to, and that a gate must read all the same. */

const settings = { TUNEPLANE_SCRAPE_MAX_AGE_MS: '0', TUNEPLANE_ADMIT_TIMEOUT_S: '2' };
const asPosted =
  (gate: Gate) =>
  async (runId: string, count = 1) => {
    const { status, body } = await gate.post('/admit', jobToPost(runId, count));
    return { status, ...(body as Record<string, unknown>) };
  };

describe('a container of a run that', () => {
  let docker: FakeEngine;
  let gate: Gate;
  beforeAll(async () => {
    docker = await startFakeEngine();
    gate = await startGate({ engine: docker, settings });
  });
  afterEach(() => {
    docker.behave();
    docker.containers.length = 0;
  });
  afterAll(async () => {
    await gate?.stop();
    await docker?.stop();
  });

  /** The container of `train` as the gate itself made it, in a state that it came into since. */
  async function madeThen(State: string): Promise<EngineContainer> {
    expect(await asPosted(gate)('train')).toMatchObject({ status: 201, gpus: [0] });
    const [made] = docker.containers;
    made!.State = State;
    return made!;
  }

  test.each([
    ['restarting', { decision: 'admitted', replayed: true, run: { state: 'restarting' } }, 'job_held'],
    ['paused', { decision: 'admitted', replayed: true, run: { state: 'paused' } }, 'job_held'],
    ['exited', { decision: 'ended', run: { state: 'exited' } }, 'free'],
    ['dead', { decision: 'ended', run: { state: 'dead' } }, 'free'],
  ])('is %s is answered so, once and for all', async (state, answer, card) => {
    await madeThen(state);
    expect(await asPosted(gate)('train')).toMatchObject({ status: 200, ...answer });
    expect((await gate.cards()).cards[0]).toMatchObject({ index: 0, state: card });
    expect(docker.containers).toHaveLength(1);
  });

  test('is in a state whose word nobody knows is left alone, and never started again', async () => {
    await madeThen('hibernating');
    expect(await asPosted(gate)('train')).toMatchObject({ status: 200, decision: 'admitted', replayed: true });
    expect(docker.containers).toMatchObject([{ State: 'hibernating' }]);
  });

  test('is being removed still holds its card, and is waited for', async () => {
    const made = await madeThen('removing');
    expect((await gate.cards()).cards[0]?.state).toBe('job_held');
    const again = asPosted(gate)('train');
    await new Promise((resolve) => setTimeout(resolve, 500));
    docker.containers.splice(docker.containers.indexOf(made), 1);
    expect(await again).toMatchObject({ status: 201, replayed: false, gpus: [0] });
    expect(docker.containers).toHaveLength(1);
  });

  test('is being removed and never goes is answered in time', async () => {
    await madeThen('removing');
    const began = performance.now();
    expect(await asPosted(gate)('train')).toMatchObject({ decision: 'wait', reasons: [{ code: 'job_held' }] });
    expect(performance.now() - began).toBeLessThan(2000 + 1500);
  });

  test('is dead and cannot be removed is said to be in doubt, and its card is free', async () => {
    await madeThen('dead');
    docker.misbehave((line) => (line.startsWith('DELETE') ? { status: 500, body: '{"message":"device busy"}' } : null));
    const answer = await gate.call('/runs/train', { method: 'DELETE' });
    expect(answer.status).toBe(503);
    expect(answer.body).toMatchObject({ code: 'docker_unavailable', detail: expect.stringContaining('device busy') });
    expect((await gate.cards()).counts.free).toBe(8);
  });

  test('is one of 400 on one card: all are counted, and the other cards are given', async () => {
    const claim = () => engineContainer({ State: 'created', Labels: { [LABEL.gpuUuids]: '', [LABEL.gpus]: '3' } });
    docker.containers.push(...Array.from({ length: 400 }, claim));
    const { cards } = await gate.cards();
    expect(cards.map(({ state }) => state).join(' ')).toBe('free free free job_held free free free free');
    expect(cards[3]?.claims).toBe(400);
    expect(await asPosted(gate)('train', 4)).toMatchObject({ status: 201, gpus: [4, 5, 6, 7] });
    expect(((await gate.get('/runs')).body as { runs: unknown[] }).runs).toHaveLength(401);
  });

  test('among 500 that run: each is inspected once, and a job finds its cards', async () => {
    const earlier = docker.requests.length;
    const strangers = Array.from({ length: 500 }, () => engineContainer());
    docker.containers.push(...strangers);
    // At most so many as one look has time for; the next look goes on.
    await expect.poll(async () => (await gate.cards()).counts.free).toBe(8);
    const inspects = () =>
      docker.requests
        .slice(earlier)
        .map((line) => /^GET \/containers\/(\w{64})\/json/.exec(line)?.[1])
        // The job's own container is inspected as well, before its start.
        .filter((id) => strangers.some(({ Id }) => Id === id));
    await expect.poll(() => gate.cards().then(() => new Set(inspects()).size)).toBe(500);
    const began = performance.now();
    expect(await asPosted(gate)('train', 8)).toMatchObject({ status: 201, gpus: [0, 1, 2, 3, 4, 5, 6, 7] });
    expect(performance.now() - began).toBeLessThan(3000);
    expect(inspects()).toHaveLength(500);
    expect((await gate.metrics()).get('tuneplane_gpu_probe_success{probe="docker"}')).toBe(1);
  });
});
