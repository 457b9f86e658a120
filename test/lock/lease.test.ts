import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Hold, Lock } from '../../src/model/ports/lock.js';
import { startRedis, type TestRedis } from '../support/services/redis.js';
import { never, within } from './outside.js';
import { KEY, lockMaker } from './redis-locks.js';
import { until } from './until.js';

let server: TestRedis;
let redis: Redis;
const locks = lockMaker(() => server.url);

beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
beforeEach(async () => {
  await redis.flushall();
});
afterEach(async () => {
  await locks.closeAll();
});
afterAll(async () => {
  await server.stop();
});

async function taken(lock: Lock): Promise<Hold> {
  const hold = await lock.acquire(within(5000));
  if (hold === null) throw new Error(`Not taken within 5 s: ${lock.problem()}`);
  return hold;
}

describe('on the wire', () => {
  test('the key holds the time and 16 hexadecimal digits, and never lives longer than the lease', async () => {
    const { lock } = locks.make({ leaseMs: 5000 });
    const hold = await taken(lock);
    expect(await redis.get(KEY)).toMatch(/^1\d{12}-[0-9a-f]{16}$/);
    const pttl = await redis.pttl(KEY);
    expect(pttl).toBeGreaterThan(0);
    expect(pttl).toBeLessThanOrEqual(5000);
    await hold.release();
    expect(await redis.keys('*')).toEqual([]);
  });

  test('an older agent that sets the key if absent is kept out while we hold it', async () => {
    const hold = await taken(locks.make().lock);
    expect(await redis.set(KEY, 'older agent', 'PX', 120_000, 'NX')).toBeNull();
    await hold.release();
    expect(await redis.set(KEY, 'older agent', 'PX', 120_000, 'NX')).toBe('OK');
  });

  test("an older agent's key keeps us out until it is released", async () => {
    await redis.set(KEY, 'older agent', 'PX', 120_000, 'NX');
    const { lock } = locks.make();
    const waiting = lock.acquire(never());
    await until('the problem is known', () => lock.problem()?.startsWith('held by another') === true);
    expect(lock.problem()).toMatch(/^held by another for 0 s, for 1[12]\d s more unless it is renewed$/);
    expect(lock.up).toBe(true);
    await redis.del(KEY);
    expect(await waiting).not.toBeNull();
    expect(lock.problem()).toBeNull();
  });

  test("an older agent's key keeps us out until it expires", async () => {
    await redis.set(KEY, 'older agent', 'PX', 700, 'NX');
    const { lock } = locks.make();
    expect(await lock.acquire(within(400))).toBeNull();
    await taken(lock);
  });

  test('it is told for how long another has had it, and forgotten when nobody has asked for a while', async () => {
    await redis.set(KEY, 'older agent', 'PX', 120_000, 'NX');
    const { lock, clock } = locks.make();
    const leave = new AbortController();
    const waiting = lock.acquire(leave.signal);
    await until('it is seen', () => lock.problem() !== null && lock.up === true);
    clock.pushMonotonic(1900);
    await until('it has been seen for a while', () => lock.problem()?.startsWith('held by another for 2 s') === true);
    leave.abort();
    await waiting;
    clock.pushMonotonic(5000);
    expect(lock.problem()).toBeNull();
  });

  test('a key that will never end is named, with what to do about it', async () => {
    await redis.set(KEY, 'older agent');
    const { lock, log } = locks.make();
    expect(await lock.acquire(within(500))).toBeNull();
    expect(lock.problem()).toContain(
      "without a time to live; if no allocator is at work, delete the key 'gpu-alloc:leader' by hand",
    );
    expect(log.lines.filter((line) => line.includes('will not end by itself'))).toHaveLength(1);
    expect(await redis.get(KEY)).toBe('older agent');
  });

  test('a key of another type is nobody’s permission', async () => {
    await redis.rpush(KEY, 'a list');
    const { lock } = locks.make();
    expect(await lock.acquire(within(500))).toBeNull();
    expect(lock.problem()).toMatch(/^Redis refuses: WRONGTYPE/);
  });

  test('the key has a time to live at every moment that anybody looks', async () => {
    const { lock } = locks.make({ leaseMs: 300 });
    const seen: number[] = [];
    let looking = true;
    const looker = (async () => {
      while (looking) seen.push(await redis.pttl(KEY));
    })();
    for (let n = 0; n < 10; n += 1) {
      const hold = await taken(lock);
      await sleep(30);
      await hold.confirm();
      await hold.release();
    }
    looking = false;
    await looker;
    expect(seen).not.toContain(-1);
    expect(Math.max(...seen)).toBeGreaterThan(0);
  });

  test('it goes on when Redis has forgotten the scripts', async () => {
    const { lock } = locks.make();
    const first = await taken(lock);
    await redis.script('FLUSH');
    expect(await first.confirm()).toBe(true);
    await redis.script('FLUSH');
    await first.release();
    expect(await redis.exists(KEY)).toBe(0);
    await redis.script('FLUSH');
    await taken(lock);
  });
});

describe('a lease', () => {
  test('is renewed as long as it is held', async () => {
    const hold = await taken(locks.make({ leaseMs: 600 }).lock);
    await sleep(1500);
    expect(hold.lost.aborted).toBe(false);
    expect(await hold.confirm()).toBe(true);
  });

  test.each([
    ['is gone', () => redis.del(KEY), null],
    ['belongs to another', () => redis.set(KEY, 'other', 'PX', 60_000), 'other'],
  ])('whose key %s is lost at the next confirmation, and the key is left as it is', async (_says, spoil, then) => {
    const { lock, log, meter } = locks.make();
    const hold = await taken(lock);
    await spoil();
    expect(await hold.confirm()).toBe(false);
    expect(hold.lost.aborted).toBe(true);
    expect(lock.held).toBe(false);
    await hold.release();
    expect(await redis.get(KEY)).toBe(then);
    expect(meter.lost).toBe(1);
    expect(log.lines.filter((line) => line.startsWith('error: the lock was lost: Redis answers'))).toHaveLength(1);
  });

  test('that is lost is told by the next renewal without being asked', async () => {
    const hold = await taken(locks.make({ leaseMs: 900 }).lock);
    await redis.del(KEY);
    await until('the loss is told', () => hold.lost.aborted, 700);
    expect(await redis.exists(KEY)).toBe(0);
  });

  test("whose key went to another is counted when it is given back, and the other's key stays", async () => {
    const { lock, meter } = locks.make();
    const hold = await taken(lock);
    await redis.set(KEY, 'other', 'PX', 60_000);
    await hold.release();
    expect(meter.lost).toBe(1);
    expect(await redis.get(KEY)).toBe('other');
  });

  test.each([
    ['the monotonic clock', 'pushMonotonic'],
    ['the wall clock, as after a suspended machine', 'pushWall'],
  ] as const)('ends by %s, whatever Redis thinks, and lets the key go', async (_says, push) => {
    const { lock, clock, meter } = locks.make({ leaseMs: 60_000 });
    const hold = await taken(lock);
    clock[push](59_500);
    expect(await hold.confirm()).toBe(false);
    expect(hold.lost.aborted).toBe(true);
    expect(meter.lost).toBe(1);
    await until('the key is gone', async () => (await redis.exists(KEY)) === 0);
  });

  test('that ended while nobody asked is told within about a second', async () => {
    const { lock, clock } = locks.make({ leaseMs: 60_000 });
    const hold = await taken(lock);
    clock.pushWall(60_000);
    await until('the loss is told', () => hold.lost.aborted, 2000);
  });

  test('outlives a wall clock that is set back', async () => {
    const { lock, clock } = locks.make({ leaseMs: 60_000 });
    const hold = await taken(lock);
    clock.pushWall(-3_600_000);
    expect(await hold.confirm()).toBe(true);
  });

  test('counts from before the command was sent, not from the answer', async () => {
    const { lock, clock } = locks.make({ leaseMs: 60_000 });
    await (await taken(lock)).release();
    server.pause();
    const slow = taken(lock);
    await sleep(600);
    server.resume();
    const hold = await slow;
    // 58.8 s of the lease are used; by the answer's own time some 0.5 s would be left.
    clock.pushMonotonic(58_300);
    expect(await hold.confirm()).toBe(false);
  });
});

describe('several who want it', () => {
  test('never hold it together', async () => {
    let inside = 0;
    let most = 0;
    const two = [locks.make().lock, locks.make().lock];
    await Promise.all(
      two.map(async (lock) => {
        for (let n = 0; n < 6; n += 1) {
          const hold = await taken(lock);
          inside += 1;
          most = Math.max(most, inside);
          await sleep(20);
          inside -= 1;
          await hold.release();
        }
      }),
    );
    expect(most).toBe(1);
  });

  test('each get their share, though every one of them always has a next job', async () => {
    const stop = new AbortController();
    const four = Array.from({ length: 4 }, () => locks.make().lock);
    const shares = four.map(async (lock) => {
      let count = 0;
      for (;;) {
        const hold = await lock.acquire(stop.signal);
        if (hold === null) return count;
        count += 1;
        await sleep(100);
        await hold.release();
      }
    });
    await sleep(6000);
    stop.abort();
    const counts = await Promise.all(shares);
    const all = counts.reduce((sum, count) => sum + count, 0);
    for (const count of counts) expect(count, `shares ${counts.join(', ')}`).toBeGreaterThanOrEqual(all / 8);
  });

  test('nobody is let pass when nobody waits', async () => {
    const { lock, clock } = locks.make();
    await (await taken(lock)).release();
    const before = clock.monotonic();
    await (await taken(lock)).release();
    expect(clock.monotonic() - before).toBeLessThan(200);
  });

  test('an older agent, which leaves no mark, gets it between two of ours as far as it asks', async () => {
    const { lock } = locks.make();
    const hold = await taken(lock);
    await hold.release();
    expect(await redis.set(KEY, 'older agent', 'PX', 60_000, 'NX')).toBe('OK');
    expect(await lock.acquire(within(300))).toBeNull();
  });
});

describe('what stays behind', () => {
  test('a wait that is given up leaves neither key nor mark', async () => {
    await redis.set(KEY, 'other', 'PX', 60_000);
    const { lock } = locks.make();
    expect(await lock.acquire(within(500))).toBeNull();
    expect(await redis.keys('*')).toEqual([KEY]);
    await redis.del(KEY);
    await sleep(400);
    expect(await redis.keys('*')).toEqual([]);
  });

  test('closing gives back what is held, ends the waits, and leaves no connection', async () => {
    const { lock } = locks.make();
    const waiter = locks.make().lock;
    const hold = await taken(lock);
    const waiting = waiter.acquire(never());
    await until('it is kept out', () => waiter.problem()?.startsWith('held by another') === true);
    await Promise.all([waiter.close(), lock.close()]);
    expect(await waiting).toBeNull();
    expect(await hold.confirm()).toBe(false);
    expect(hold.lost.aborted).toBe(false);
    expect(await redis.keys('*')).toEqual([]);
    expect(await redis.client('LIST')).not.toContain('tuneplane-gpu-gate');
    expect(lock.up).toBe(false);
    expect(await lock.acquire(never())).toBeNull();
  });
});
