import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ACQUIRE } from '../../src/lock/redis/scripts.js';
import type { Hold, Lock } from '../../src/model/ports/lock.js';
import { holds } from '../../src/model/snapshot.js';
import { within } from '../lock/outside.js';
import { KEY, lockMaker } from '../lock/redis-locks.js';
import { until } from '../lock/until.js';
import { console_, jobSpec, nobodyGone, testDesk } from '../support/admissions.js';
import { fakeRuntime } from '../support/fake-runtime.js';
import { startRedis, type TestRedis } from '../support/services/redis.js';

/** Locks that were thought to be held, and keys that nobody could get rid of. */

const README = readFileSync(new URL('../../src/lock/README.md', import.meta.url), 'utf8');
let redis: TestRedis;
const locks = lockMaker(() => redis.url);

beforeAll(async () => {
  redis = await startRedis();
});
afterEach(() => locks.closeAll());
afterAll(() => redis?.stop());
beforeEach(() => redis.client().flushall());

async function taken(lock: Lock): Promise<Hold> {
  const hold = await lock.acquire(within(5000));
  if (hold === null) throw new Error(`Not taken within 5 s: ${lock.problem()}`);
  return hold;
}

/** Two gates on one runtime; the key goes away at the moment at which the first one creates. */
async function keyGoesAwayAtTheCreate(): Promise<{
  decisions: readonly string[];
  onCard: number;
  creates: number;
}> {
  const runtime = fakeRuntime(() => sleep(1));
  const desks = ['gate-a', 'gate-b'].map((instanceId) =>
    testDesk(runtime, { cards: 1, lock: locks.make().lock, settings: { instanceId, admitTimeoutMs: 5000 } }),
  );
  let second: Promise<{ kind: string }> | undefined;
  let creates = 0;
  const create = runtime.create.bind(runtime);
  runtime.create = async (spec, grant) => {
    creates += 1;
    if (second === undefined) {
      await redis.client().del(KEY);
      second = desks[1]!.admit(jobSpec('b'), console_, nobodyGone());
      // The other one has the lock now as well, and looks at a card that is free.
      await until('the second has the lock', () => desks[1]!.meter.counted['phase lock'] === 1);
    }
    return create(spec, grant);
  };
  const first = await desks[0]!.admit(jobSpec('a'), console_, nobodyGone());
  const both = [first, await second!];
  const live = [...runtime.containers.values()].filter(({ state }) => holds(state));
  return { decisions: both.map(({ kind }) => kind), onCard: live.length, creates };
}

// L01, https://github.com/taskforcesh/bullmq/issues/2215
describe('Redis evicts keys that have an expiry when it is full, and a lock is such a key', () => {
  test('the owner learns of it before it creates, and its unlock leaves the next owner alone', async () => {
    const [a, b] = [locks.make().lock, locks.make().lock];
    const hold = await taken(a);
    await redis.client().del(KEY);
    await taken(b);
    const tokenOfB = await redis.client().get(KEY);
    expect(await hold.confirm()).toBe(false);
    expect(hold.lost.aborted).toBe(true);
    await hold.release();
    expect(await redis.client().get(KEY)).toBe(tokenOfB);
  });

  test('when both reach the create, at most one container is left on the card', async () => {
    const { decisions, onCard, creates } = await keyGoesAwayAtTheCreate();
    expect(creates).toBeGreaterThanOrEqual(2);
    expect(onCard).toBeLessThanOrEqual(1);
    expect(decisions.filter((kind) => kind === 'admitted').length).toBe(onCard);
    for (const kind of decisions) expect(['admitted', 'wait']).toContain(kind);
  });

  test('a policy that evicts is warned of, and the README asks for another', async () => {
    const full = await startRedis(['--maxmemory', '64mb', '--maxmemory-policy', 'volatile-lru']);
    const { log } = locks.make({ url: full.url });
    await until('it is told', () => log.lines.some((line) => line.includes('(maxmemory-policy volatile-lru)')));
    await locks.closeAll();
    await full.stop();
    expect(README).toContain('`maxmemory-policy noeviction`');
  });
});

// L04, https://github.com/errorception/redis-lock/issues/29
describe('unlock deleted whoever’s key it was, waiters unlocked, and a crash between SETNX and EXPIRE left a key for ever', () => {
  test('one whose lease ran out does not unlock the next owner', async () => {
    const a = locks.make({ leaseMs: 1500 });
    const hold = await taken(a.lock);
    // Stalled for longer than the lease: nothing was renewed, and Redis let the key go.
    a.clock.pushMonotonic(2000);
    await redis.client().del(KEY);
    await taken(locks.make().lock);
    const tokenOfB = await redis.client().get(KEY);
    await hold.release();
    expect(await redis.client().get(KEY)).toBe(tokenOfB);
  });

  test('one that gave up waiting does not unlock whom it waited for', async () => {
    const hold = await taken(locks.make().lock);
    const token = await redis.client().get(KEY);
    expect(await locks.make().lock.acquire(within(700))).toBeNull();
    expect(await redis.client().get(KEY)).toBe(token);
    expect(await hold.confirm()).toBe(true);
  });

  test('there is no moment without a time to live, and no plain DEL: key and end are one command', async () => {
    expect(ACQUIRE).toMatch(/'SET', KEYS\[1\], ARGV\[1\], 'NX', 'PX', ARGV\[2\]/);
    const lives: number[] = [];
    let done = false;
    const watching = (async () => {
      for (const client = redis.client(); !done;) lives.push(await client.pttl(KEY));
    })();
    for (let round = 0; round < 5; round += 1) await (await taken(locks.make().lock)).release();
    done = true;
    await watching;
    expect(lives.length).toBeGreaterThan(10);
    expect(lives).not.toContain(-1);
  });

  test('a gate killed while it holds is over within its lease, without anybody’s hand', async () => {
    // The older agent’s own lock, taken by a process that is killed at once: the same key, the same form.
    const script = `SET ${KEY} ${Date.now()}-0123456789abcdef NX PX 1500`;
    const holder = spawn('redis-cli', ['-p', String(redis.port)], { stdio: ['pipe', 'pipe', 'ignore'] });
    holder.stdin.write(`${script}\n`);
    await once(holder.stdout, 'data');
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    expect(await redis.client().pttl(KEY)).toBeGreaterThan(0);
    const began = performance.now();
    await taken(locks.make().lock);
    expect(performance.now() - began).toBeLessThan(2500);
  });
});

// L08, https://github.com/valkey-io/valkey/issues/2651
describe('a key’s end follows the server’s wall clock: a jump ahead expires locks early, a jump back stretches them', () => {
  test('expired early: the next one has it at once, and there is still one container on the card', async () => {
    // To both sides the same as a key that went away.
    expect((await keyGoesAwayAtTheCreate()).onCard).toBeLessThanOrEqual(1);
  });

  test('stretched by an hour: whoever asks is refused, and reads how long it will last', async () => {
    await redis.client().set(KEY, `${Date.now()}-0123456789abcdef`, 'PX', 3_630_000, 'NX');
    const { lock } = locks.make();
    const runtime = fakeRuntime();
    const desk = testDesk(runtime, { lock, settings: { admitTimeoutMs: 600 } });
    const decision = await desk.admit(jobSpec('train'), console_, nobodyGone());
    expect(decision).toMatchObject({
      kind: 'refused',
      code: 'lock_unavailable',
      detail: expect.stringMatching(/held by another for \d+ s, for 36\d\d s more/),
    });
    expect(runtime.containers.size).toBe(0);
    // The manual step.
    await redis.client().del(KEY);
    await taken(lock);
  });

  test('our own clock set back by an hour costs no lease, and no duration is negative', async () => {
    const { lock, clock, meter } = locks.make({ leaseMs: 3000 });
    const durations: number[] = [];
    const began = clock.monotonic();
    const hold = await taken(lock);
    clock.pushWall(-3_600_000);
    await sleep(1200);
    durations.push(clock.monotonic() - began);
    expect(await hold.confirm()).toBe(true);
    await hold.release();
    expect(meter.lost).toBe(0);
    expect(Math.min(...durations)).toBeGreaterThan(0);
    expect(await redis.client().exists(KEY)).toBe(0);
  });

  test('whichever of our clocks has gone further ends the lease: a machine that slept believes in nothing', async () => {
    for (const push of ['pushWall', 'pushMonotonic'] as const) {
      const { lock, clock } = locks.make({ leaseMs: 3000, key: `${KEY}-${push}` });
      const hold = await taken(lock);
      clock[push](10_000);
      expect(await hold.confirm()).toBe(false);
      expect(hold.lost.aborted).toBe(true);
    }
  });
});
