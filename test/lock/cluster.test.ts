import { afterEach, describe, expect, test } from 'vitest';
import { waitersKey } from '../../src/lock/redis/keys.js';
import type { Lock } from '../../src/model/ports/lock.js';
import { startRedis, type TestRedis } from '../support/services/redis.js';
import { within } from './outside.js';
import { KEY, lockMaker } from './redis-locks.js';
import { until } from './until.js';

/** Real servers: a cluster of one node and of two, and one whose access list knows no scripts. */

const servers: TestRedis[] = [];
let url = '';
const locks = lockMaker(() => url);
afterEach(async () => {
  await locks.closeAll();
  await Promise.all(servers.splice(0).map((each) => each.stop()));
});

async function started(...flags: readonly string[]): Promise<TestRedis> {
  const made = await startRedis(flags);
  servers.push(made);
  url = made.url;
  return made;
}

async function clusterNode(...slots: readonly [number, number]): Promise<TestRedis> {
  const node = await started('--cluster-enabled', 'yes');
  await node.client().call('CLUSTER', 'ADDSLOTSRANGE', ...slots);
  return node;
}

const clusterIsUp = (node: TestRedis) =>
  until('the cluster is up', async () => /cluster_state:ok/.test(String(await node.client().call('CLUSTER', 'INFO'))));

/** One holds it, another is kept out and leaves its mark, and gets it once it is given back. */
async function handOver(first: Lock, second: Lock): Promise<void> {
  const held = await first.acquire(within(5000));
  expect(held, first.problem() ?? undefined).not.toBeNull();
  const waiting = second.acquire(within(10_000));
  await until('the second was kept out', () => second.problem()?.startsWith('held by another') === true);
  await held?.release();
  const got = await waiting;
  expect(got, second.problem() ?? undefined).not.toBeNull();
  await got?.release();
}

describe('a cluster', () => {
  test('of one node has the lock and who waits for it in one slot; the lock keeps the key that others know', async () => {
    const node = await clusterNode(0, 16_383);
    await clusterIsUp(node);
    await handOver(locks.make().lock, locks.make().lock);
    const slot = (key: string) => node.client().call('CLUSTER', 'KEYSLOT', key);
    expect(await slot(waitersKey(KEY))).toBe(await slot(KEY));
  });

  test('is asked at the node that has the slot, whichever of them the settings name', async () => {
    const [one, other] = [await clusterNode(0, 8191), await clusterNode(8192, 16_383)];
    await one.client().call('CLUSTER', 'MEET', '127.0.0.1', other.port);
    await Promise.all([clusterIsUp(one), clusterIsUp(other)]);
    const [byOne, byOther] = [locks.make({ url: one.url }).lock, locks.make({ url: other.url }).lock];
    await handOver(byOne, byOther);
    expect([byOne.up, byOther.up]).toEqual([true, true]);
  });

  test('with a key that cannot share a slot with anything is not ready, before anybody asks for the lock', async () => {
    await clusterIsUp(await clusterNode(0, 16_383));
    const { lock } = locks.make({ key: 'a}b' });
    await until('it is known', () => lock.problem()?.includes('slot') === true);
    expect(lock.up).toBe(false);
  });
});

test('an access list without scripts is told before anybody asks for the lock', async () => {
  await started('--user', 'default', 'on', 'nopass', '~*', '&*', '+@all', '-@scripting');
  const { lock } = locks.make();
  await until('it is known', () => /NOPERM/.test(lock.problem() ?? ''));
  expect(lock.up).toBe(false);
  expect(lock.problem()).toMatch(/^Redis refuses: NOPERM .*'eval(sha)?' command/);
});

test('an access list without the right to see who waits is told too', async () => {
  await started('--user', 'default', 'on', 'nopass', `~${KEY}`, '&*', '+@all');
  const { lock } = locks.make();
  await until('it is known', () => /NOPERM|ACL/.test(lock.problem() ?? ''));
  expect(lock.up).toBe(false);
});

test.each([
  ['gpu-alloc:leader', '{gpu-alloc:leader}:waiting'],
  ['machine-7:{gpu}:lock', 'machine-7:{gpu}:lock:waiting'],
  ['odd{}key', 'odd{}key:waiting'],
])('beside the lock %s its waiters are in %s', (key, waiters) => expect(waitersKey(key)).toBe(waiters));
