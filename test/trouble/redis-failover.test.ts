import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitersKey } from '../../src/lock/redis/keys.js';
import type { Answer } from '../support/call.js';
import { startDockerProxy, type DockerProxy } from '../support/docker/docker-proxy.js';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { startRedis, type TestRedis } from '../support/services/redis.js';
import { startRedisProxy, type RedisProxy } from './redis-proxy.js';

/** A master and its replica, which is promoted without the key: two gates hold "the" lock, and still no card goes to two. */

const KEY = 'gpu-alloc:leader';
let engine: Engine;
let proxy: DockerProxy;
let [master, replica]: TestRedis[] = [];
let toMaster: RedisProxy;
let [first, second]: Gate[] = [];

beforeAll(async () => {
  [engine, master, replica] = await Promise.all([startEngine(), startRedis(), startRedis()]);
  [proxy, toMaster] = await Promise.all([startDockerProxy(engine.socketPath), startRedisProxy(master.port)]);
  const settings = { TUNEPLANE_PROCESSES: '2', TUNEPLANE_ADMIT_TIMEOUT_S: '20' };
  const common = { redisUrl: toMaster.url, settings };
  [first, second] = await Promise.all([startGate({ ...common, engine: proxy }), startGate({ ...common, engine })]);
});
afterAll(async () => {
  await Promise.all([first?.stop(), second?.stop()]);
  await Promise.all([proxy?.stop(), toMaster?.stop(), master?.stop(), replica?.stop()]);
  await engine?.stop();
});

/** The replica is cut off from its master before the key reaches it, and then takes the master's place. */
async function failOver(): Promise<void> {
  await replica!.client().replicaof('NO', 'ONE');
  await replica!.client().del(KEY, waitersKey(KEY));
  toMaster.leadTo(replica!.port);
}

const liveCards = async () => {
  const live = await engine.docker.listContainers();
  return live.map(({ Labels }) => Number(Labels['tuneplane.gpus'])).toSorted((a, b) => a - b);
};

test('a lock that a failover forgot costs a second try, never a card', async () => {
  await replica!.client().replicaof('127.0.0.1', master!.port);
  await expect.poll(() => replica!.client().info('replication')).toContain('master_link_status:up');
  // A first one through each, so that both have spoken with the master.
  for (const [at, gate] of [first!, second!].entries()) {
    expect((await gate.post('/admit', jobToPost(`warm-${at}`))).body).toMatchObject({ decision: 'admitted' });
  }

  // The first gate holds the lock and is about to create on card 2 when the master goes.
  const others: Promise<Answer>[] = [];
  proxy.treat((what) => {
    if (what !== 'POST /containers/create' || others.length > 0) return 'pass';
    others.push(failOver().then(() => second!.post('/admit', jobToPost('other'))));
    return { delayMs: 2500 };
  });
  const train = await first!.post('/admit', jobToPost('train'));

  const [other] = await Promise.all(others);
  expect(other?.body).toMatchObject({ decision: 'admitted', gpus: [2] });
  // Its create came later: the list after it shows the rival, and it takes itself back and tries again.
  expect(train.body).toMatchObject({ decision: 'admitted', gpus: [3] });
  expect(await liveCards()).toEqual([0, 1, 2, 3]);
  expect(await engine.docker.listContainers({ all: true })).toHaveLength(4);
  const page = await first!.metrics();
  expect(page.get('tuneplane_gpu_lock_lost_total')).toBe(1);
  expect(page.get('tuneplane_gpu_claim_races_total')).toBe(1);
});
