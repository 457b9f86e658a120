import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startDockerProxy, type DockerProxy } from '../support/docker/docker-proxy.js';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { startRedis, type TestRedis } from '../support/services/redis.js';

/** Redis killed, restarted empty and stopped under a gate: nobody new is let through, and what was created stands. */

const KEY = 'gpu-alloc:leader';
const TIMEOUT_S = 3;
let engine: Engine;
let proxy: DockerProxy;
let redis: TestRedis;
let gate: Gate;

beforeAll(async () => {
  [engine, redis] = await Promise.all([startEngine(), startRedis()]);
  proxy = await startDockerProxy(engine.socketPath);
  gate = await startGate({
    engine: proxy,
    redisUrl: redis.url,
    settings: { TUNEPLANE_ADMIT_TIMEOUT_S: String(TIMEOUT_S), TUNEPLANE_LOCK_LEASE_MS: '5000' },
  });
});
afterEach(async () => {
  proxy.treat(() => 'pass');
  for (const { Id } of await engine.docker.listContainers({ all: true })) {
    await engine.docker.getContainer(Id).remove({ force: true });
  }
});
afterAll(async () => {
  await gate?.stop();
  await proxy?.stop();
  await redis?.stop();
  await engine?.stop();
});

const containers = () => engine.docker.listContainers({ all: true });
const redisUp = async () => (await gate.metrics()).get('tuneplane_gpu_redis_up');

async function refusedInTime(runId: string, why: RegExp): Promise<void> {
  const began = performance.now();
  const answer = await gate.post('/admit', jobToPost(runId));
  expect(answer.status).toBe(503);
  expect(answer.headers['retry-after']).toBe('5');
  expect(answer.body).toMatchObject({ code: 'lock_unavailable', retryable: true });
  expect((answer.body as { detail: string }).detail).toMatch(why);
  expect(performance.now() - began).toBeLessThan(TIMEOUT_S * 1000 + 2500);
  expect(await containers()).toEqual([]);
}

async function comesBack(runId: string): Promise<void> {
  await expect.poll(redisUp, { timeout: 10_000 }).toBe(1);
  expect((await gate.post('/admit', jobToPost(runId))).body).toMatchObject({ decision: 'admitted' });
}

test('killed: 503 in time, the page answers and says so, and service returns by itself', async () => {
  await redis.kill();
  await refusedInTime('one', /Redis does not answer/);
  expect(await redisUp()).toBe(0);
  expect((await gate.get('/readyz')).body).toMatchObject({ ready: false, parts: { lock: { ok: false } } });
  await redis.restart();
  await comesBack('two');
  expect((await containers()).map(({ Names }) => Names[0])).toEqual(['/tuneplane-two']);
});

test('stopped: 503 in time, and what was asked meanwhile never runs later', async () => {
  redis.pause();
  await refusedInTime('one', /Redis does not answer/);
  redis.resume();
  await comesBack('two');
  await new Promise((resolve) => setTimeout(resolve, 1000));
  expect((await containers()).map(({ Names }) => Names[0])).toEqual(['/tuneplane-two']);
  expect(await redis.client().exists(KEY)).toBe(0);
});

test('killed while a claim is under way: the claim that was created stands and is started', async () => {
  let listed = 0;
  proxy.treat((what) => {
    // The second list after the create is the claim's own: Redis goes away right before it.
    if (what === 'POST /containers/create') listed = 1;
    return 'pass';
  });
  const asked = gate.post('/admit', jobToPost('train'));
  await expect.poll(() => listed, { interval: 1 }).toBe(1);
  await redis.kill();
  expect((await asked).body).toMatchObject({ decision: 'admitted' });
  expect(await containers()).toMatchObject([{ State: 'running' }]);
  await redis.restart();
  await expect.poll(redisUp, { timeout: 10_000 }).toBe(1);
});

test('restarted empty while we wait for a lock that another held: nobody is let through without it', async () => {
  await redis.client().set(KEY, `${Date.now()}-0123456789abcdef`, 'PX', 60_000, 'NX');
  const asked = gate.post('/admit', jobToPost('train'));
  await new Promise((resolve) => setTimeout(resolve, 500));
  await redis.kill();
  expect(await containers()).toEqual([]);
  await redis.restart();
  const { body } = await asked;
  expect(['admitted', undefined]).toContain((body as { decision?: string }).decision);
  await comesBack('next');
});

test("an older agent's lock (plain SET NX PX) keeps the gate out until it goes", async () => {
  await redis.client().set(KEY, `${Date.now()}-0123456789abcdef`, 'PX', 60_000, 'NX');
  await refusedInTime('one', /held by another/);
  const asked = gate.post('/admit', jobToPost('two'));
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect(await containers()).toEqual([]);
  await redis.client().del(KEY);
  expect((await asked).body).toMatchObject({ decision: 'admitted' });
});

test("an older agent's lock that runs out lets the gate in", async () => {
  await redis.client().set(KEY, `${Date.now()}-0123456789abcdef`, 'PX', 1000, 'NX');
  expect((await gate.post('/admit', jobToPost('one'))).body).toMatchObject({ decision: 'admitted' });
});
