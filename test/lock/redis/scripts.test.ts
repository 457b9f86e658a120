import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { waitersKey } from '../../../src/lock/redis/keys.js';
import { ACQUIRE, RELEASE, RENEW, TRY_OUT } from '../../../src/lock/redis/scripts.js';
import { startRedis, type TestRedis } from '../../support/services/redis.js';

const KEY = 'gpu-alloc:leader';
const MARKS = waitersKey(KEY);
const LEASE = 5000;

let server: TestRedis;
let redis: Redis;

beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
beforeEach(async () => {
  await redis.flushall();
});
afterAll(async () => {
  await server.stop();
});

async function redisNow(): Promise<number> {
  const [seconds, micros] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}

async function acquire(
  token: string,
  until = Number.MAX_SAFE_INTEGER,
): Promise<readonly [number, number, string, number]> {
  const reply = await redis.eval(ACQUIRE, 2, KEY, MARKS, token, LEASE, until, 1000);
  return reply as readonly [number, number, string, number];
}

const renew = (token: string) => redis.eval(RENEW, 1, KEY, token, LEASE);
const release = (token: string) => redis.eval(RELEASE, 2, KEY, MARKS, token, 1000);

describe('taking', () => {
  test('an absent key is set, with a time to live from the first moment', async () => {
    const [code, now, holder] = await acquire('a');
    expect([code, holder]).toEqual([1, 'a']);
    expect(Math.abs(now - (await redisNow()))).toBeLessThan(1000);
    expect(await redis.pttl(KEY)).toBeGreaterThan(LEASE - 1000);
  });

  test('what is mine already is mine again, for a whole lease', async () => {
    await redis.set(KEY, 'a', 'PX', 500);
    expect((await acquire('a'))[0]).toBe(1);
    expect(await redis.pttl(KEY)).toBeGreaterThan(500);
  });

  test("another's key stays as it is, and a mark is left for a second", async () => {
    await redis.set(KEY, 'older agent', 'PX', 3000);
    const [code, , holder, endsInMs] = await acquire('a');
    expect([code, holder]).toEqual([0, 'older agent']);
    expect(endsInMs).toBeGreaterThan(2000);
    expect(await redis.get(KEY)).toBe('older agent');
    expect(await redis.zrange(MARKS, '0', '-1')).toEqual(['a']);
    expect(await redis.pttl(MARKS)).toBeGreaterThan(0);
    expect(await redis.pttl(MARKS)).toBeLessThanOrEqual(1000);
  });

  test('a key without a time to live is told as such', async () => {
    await redis.set(KEY, 'somebody');
    expect((await acquire('a'))[3]).toBe(-1);
  });

  test('what comes too late is not carried out, and tells the clock', async () => {
    const now = await redisNow();
    const [code, told] = await acquire('a', now - 1);
    expect(code).toBe(-1);
    expect(Math.abs(told - now)).toBeLessThan(1000);
    expect(await redis.keys('*')).toEqual([]);
  });

  test('whoever gets it takes its own mark away and leaves those of others', async () => {
    await redis.set(KEY, 'holder', 'PX', 3000);
    await acquire('a');
    await acquire('b');
    await redis.del(KEY);
    await acquire('a');
    expect(await redis.zrange(MARKS, '0', '-1')).toEqual(['b']);
  });
});

describe('renewing', () => {
  test('a key of ours gets a whole lease', async () => {
    await redis.set(KEY, 'a', 'PX', 500);
    expect(await renew('a')).toBe(1);
    expect(await redis.pttl(KEY)).toBeGreaterThan(500);
  });

  test('a key that is gone stays gone', async () => {
    expect(await renew('a')).toBe(0);
    expect(await redis.exists(KEY)).toBe(0);
  });

  test("another's key is not prolonged", async () => {
    await redis.set(KEY, 'b', 'PX', 500);
    expect(await renew('a')).toBe(0);
    expect(await redis.get(KEY)).toBe('b');
    expect(await redis.pttl(KEY)).toBeLessThanOrEqual(500);
  });
});

describe('giving back', () => {
  test('a key of ours goes, and nobody waits', async () => {
    await acquire('a');
    expect(await release('a')).toEqual([1, 0]);
    expect(await redis.keys('*')).toEqual([]);
  });

  test("another's key stays", async () => {
    await redis.set(KEY, 'b', 'PX', 3000);
    expect(await release('a')).toEqual([0, 0]);
    expect(await redis.get(KEY)).toBe('b');
  });

  test('those who were kept out are counted, whoever gives up is not', async () => {
    await acquire('a');
    await acquire('b');
    await acquire('c');
    expect(await release('c')).toEqual([0, 1]);
    expect(await release('a')).toEqual([1, 1]);
  });

  test.each([
    ['whose second is over', -1],
    ['from a clock that was set back since', 3_600_000],
  ])('a mark %s does not count', async (_says, ahead) => {
    await acquire('a');
    await redis.zadd(MARKS, (await redisNow()) + ahead, 'b');
    expect(await release('a')).toEqual([1, 0]);
  });
});

describe('trying out', () => {
  const tryOut = () => redis.eval(TRY_OUT, 2, KEY, MARKS, 'nobody', 1000);
  const state = async () => [
    await redis.get(KEY),
    await redis.call('PEXPIRETIME', KEY),
    await redis.zrange(MARKS, '0', '-1', 'WITHSCORES'),
    await redis.call('PEXPIRETIME', MARKS),
  ];

  test('adds nothing to an empty Redis', async () => {
    expect(await tryOut()).toBe(1);
    expect(await redis.keys('*')).toEqual([]);
  });

  test('leaves a lock, its time to live and who waits for it as they are', async () => {
    await acquire('one');
    await acquire('two');
    const before = await state();
    expect(await tryOut()).toBe(1);
    expect(await state()).toEqual(before);
  });

  test('is refused where the key is something else', async () => {
    await redis.rpush(KEY, 'a list');
    await expect(tryOut()).rejects.toThrow('WRONGTYPE');
  });
});
