import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { localLock } from '../../src/lock/local-lock.js';
import type { Hold, Lock } from '../../src/model/ports/lock.js';
import { fakeLock } from '../support/fake-lock.js';
import { startRedis, type TestRedis } from '../support/services/redis.js';
import { never, within } from './outside.js';
import { KEY, lockMaker } from './redis-locks.js';

let redis: TestRedis;
const locks = lockMaker(() => redis.url);
let keys = 0;

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(async () => {
  await locks.closeAll();
  await redis.stop();
});

const kinds: readonly (readonly [string, () => Lock])[] = [
  ['the lock of one process', localLock],
  ['the lock over Redis', () => locks.make({ key: `${KEY}-${(keys += 1)}` }).lock],
  ['the fake for tests', fakeLock],
];

describe.each(kinds)('%s', (_name, make) => {
  async function taken(lock: Lock): Promise<Hold> {
    const hold = await lock.acquire(within(5000));
    if (hold === null) throw new Error('A free lock could not be taken within 5 s.');
    return hold;
  }

  test('a free lock is held by whoever asks, and says so until it is given back', async () => {
    const lock = make();
    expect(lock.held).toBe(false);
    const hold = await taken(lock);
    expect(lock.held).toBe(true);
    expect(await hold.confirm()).toBe(true);
    await hold.release();
    expect(lock.held).toBe(false);
    expect(hold.lost.aborted).toBe(false);
  });

  test('what was given back is not confirmed any more', async () => {
    const hold = await taken(make());
    await hold.release();
    expect(await hold.confirm()).toBe(false);
  });

  test('giving back twice is giving back once', async () => {
    const lock = make();
    const first = await taken(lock);
    await first.release();
    const second = await taken(lock);
    await first.release();
    expect(lock.held).toBe(true);
    expect(await second.confirm()).toBe(true);
    await second.release();
  });

  test('the second waits until the first gives back', async () => {
    const lock = make();
    const order: string[] = [];
    const first = await taken(lock);
    const second = taken(lock).then((hold) => {
      order.push('second has it');
      return hold;
    });
    await sleep(50);
    order.push('first gives back');
    await first.release();
    await (await second).release();
    expect(order).toEqual(['first gives back', 'second has it']);
  });

  test('a wait that is given up ends with nothing, and the lock goes to the next', async () => {
    const lock = make();
    const first = await taken(lock);
    const leave = new AbortController();
    const givenUp = lock.acquire(leave.signal);
    const patient = lock.acquire(within(5000));
    await sleep(50);
    leave.abort();
    expect(await givenUp).toBeNull();
    await first.release();
    const hold = await patient;
    expect(hold).not.toBeNull();
    await hold?.release();
    expect(lock.held).toBe(false);
  });

  test('a wait that was given up before it began takes nothing', async () => {
    const lock = make();
    expect(await lock.acquire(AbortSignal.abort())).toBeNull();
    expect(lock.held).toBe(false);
    const hold = await taken(lock);
    await hold.release();
  });

  test('nobody has two at once, however many ask together', async () => {
    const lock = make();
    let inside = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 5 }, async () => {
        const hold = await lock.acquire(never());
        inside += 1;
        most = Math.max(most, inside);
        await sleep(5);
        inside -= 1;
        await hold?.release();
      }),
    );
    expect(most).toBe(1);
  });
});
