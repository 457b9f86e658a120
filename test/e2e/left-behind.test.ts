import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startDockerProxy, type DockerProxy } from '../support/docker/docker-proxy.js';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type Gate, type GateOptions } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { startRedis, type TestRedis } from '../support/services/redis.js';

/** A gate that was killed between create and start, on a real engine: what the others make of what it left. */

let engine: Engine;
let proxy: DockerProxy;
let redis: TestRedis;
const gates: Gate[] = [];

beforeAll(async () => {
  [engine, redis] = await Promise.all([startEngine(), startRedis()]);
  proxy = await startDockerProxy(engine.socketPath);
});
afterEach(async () => {
  await Promise.all(gates.splice(0).map((gate) => gate.kill()));
  proxy.treat(() => 'pass');
  for (const { Id } of await engine.docker.listContainers({ all: true })) {
    await engine.docker.getContainer(Id).remove({ force: true });
  }
});
afterAll(async () => {
  await Promise.all([proxy?.stop(), redis?.stop()]);
  await engine?.stop();
});

async function gate(options: GateOptions = {}): Promise<Gate> {
  const one = await startGate({ engine, ...options });
  gates.push(one);
  return one;
}

const containers = () => engine.docker.listContainers({ all: true });

/** Kills a gate that has created the container of `train` on one card and not started it. */
async function killBetweenCreateAndStart(): Promise<{ stateDir: string; containerId: string }> {
  proxy.treat((what) => (/^POST .*\/start$/.test(what) ? 'hold' : 'pass'));
  const victim = await gate({ engine: proxy });
  const answer = victim.post('/admit', jobToPost('train')).catch(() => null);
  await expect.poll(() => proxy.holding).toBe(1);
  await victim.kill();
  await answer;
  const [left] = await containers();
  expect(left).toMatchObject({ State: 'created', Names: ['/tuneplane-train'] });
  return { stateDir: victim.stateDir, containerId: left!.Id };
}

test('alone on its machine, another gate removes it, decides anew and starts that once', async () => {
  const { containerId } = await killBetweenCreateAndStart();
  const other = await gate();
  const answer = await other.post('/admit', jobToPost('train'));
  expect(answer.status).toBe(201);
  expect(answer.body).toMatchObject({ decision: 'admitted', replayed: false, gpus: [0] });
  const [only, ...more] = await containers();
  expect(only).toMatchObject({ State: 'running' });
  expect([only!.Id === containerId, more]).toEqual([false, []]);
  expect((await other.post('/admit', jobToPost('train'))).body).toMatchObject({ replayed: true });
});

test('beside other gates, another waits for its creator and says so, and gives the card back after the grace', async () => {
  const { containerId } = await killBetweenCreateAndStart();
  const settings = { TUNEPLANE_PROCESSES: '2', TUNEPLANE_CLAIM_GRACE_S: '8', TUNEPLANE_ADMIT_TIMEOUT_S: '2' };
  const other = await gate({ redisUrl: redis.url, settings });
  expect((await other.cards()).cards[0]).toMatchObject({ state: 'job_held', held_by: { state: 'created' } });
  const answer = await other.post('/admit', jobToPost('train'));
  expect(answer.status).toBe(202);
  expect(answer.body).toMatchObject({
    decision: 'starting',
    run: { container_id: containerId, state: 'created' },
    explain: expect.stringContaining('alone may start it'),
  });
  await expect.poll(async () => (await other.cards()).counts.free, { timeout: 30_000 }).toBe(8);
  expect(await containers()).toEqual([]);
  expect((await other.metrics()).get('tuneplane_gpu_left_over_claims_removed_total')).toBe(1);
});

test('the same instance gives it back at once when it starts again', async () => {
  const { stateDir } = await killBetweenCreateAndStart();
  const again = await gate({ stateDir });
  await expect.poll(async () => (await again.cards()).counts.free).toBe(8);
  expect(await containers()).toEqual([]);
});

test('a container that was started meanwhile is not touched, by either', async () => {
  const { stateDir, containerId } = await killBetweenCreateAndStart();
  await engine.docker.getContainer(containerId).start();
  const again = await gate({ stateDir, settings: { TUNEPLANE_CLAIM_GRACE_S: '0' } });
  const other = await gate({ settings: { TUNEPLANE_CLAIM_GRACE_S: '0' } });
  await new Promise((resolve) => setTimeout(resolve, 2500));
  expect(await containers()).toMatchObject([{ Id: containerId, State: 'running' }]);
  for (const each of [again, other]) expect((await each.cards()).counts.job_held).toBe(1);
});

test('a start whose answer was lost is admitted: the books say that it runs', async () => {
  proxy.treat((what) => (/^POST .*\/start$/.test(what) ? 'lose' : 'pass'));
  const one = await gate({ engine: proxy });
  expect((await one.post('/admit', jobToPost('train'))).body).toMatchObject({ decision: 'admitted' });
  expect(await containers()).toMatchObject([{ State: 'running' }]);
});

test('a create whose answer was lost is gone on with', async () => {
  proxy.treat((what) => (what === 'POST /containers/create' ? 'lose' : 'pass'));
  const one = await gate({ engine: proxy });
  expect((await one.post('/admit', jobToPost('train'))).body).toMatchObject({ decision: 'admitted' });
  expect(await containers()).toMatchObject([{ State: 'running' }]);
});
