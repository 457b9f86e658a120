import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openLockCommands } from '../../src/lock/redis/commands.js';
import { passwordFrom } from '../../src/lock/redis/password-file.js';
import type { Hold, Lock } from '../../src/model/ports/lock.js';
import { freePort, startRedis, type TestRedis } from '../support/services/redis.js';
import { emptyFolder, never, pushableClock, recordingLog, within } from './outside.js';
import { KEY, lockMaker } from './redis-locks.js';
import { type ReplyingServer, startReplying } from './replying.js';
import { until } from './until.js';

const servers: TestRedis[] = [];
let server: TestRedis;
const locks = lockMaker(() => server.url);

beforeEach(async () => {
  server = await started();
});
afterEach(async () => {
  await locks.closeAll();
  await Promise.all(servers.splice(0).map((each) => each.stop()));
});

async function started(flags: readonly string[] = []): Promise<TestRedis> {
  const made = await startRedis(flags);
  servers.push(made);
  return made;
}

async function taken(lock: Lock): Promise<Hold> {
  const hold = await lock.acquire(within(5000));
  if (hold === null) throw new Error(`Not taken within 5 s: ${lock.problem()}`);
  return hold;
}

/** What the server holds, by a client of its own, since an older one may sit in its retries. */
const keysNow = async (): Promise<readonly string[]> => server.client().keys('*');

describe('a Redis that is down', () => {
  test('at the start lets nobody through, says why, and is found when it comes', async () => {
    await server.kill();
    const { lock, log } = locks.make();
    const waiting = lock.acquire(never());
    await until('the problem is known', () => lock.problem()?.includes('ECONNREFUSED') === true);
    expect(lock.problem()).toBe(`Redis does not answer: connect ECONNREFUSED 127.0.0.1:${server.port}`);
    expect([lock.up, lock.held]).toEqual([false, false]);
    await sleep(1500);
    expect(log.lines.filter((line) => line.includes('ECONNREFUSED'))).toHaveLength(1);
    await server.restart();
    expect(await waiting).not.toBeNull();
    expect([lock.up, lock.problem()]).toEqual([true, null]);
  });

  test('on a host that is unknown is said to be so', async () => {
    const { lock } = locks.make({ url: 'redis://no-such-host.invalid:6379' });
    await until('the problem is known', () => /ENOTFOUND|EAI_AGAIN/.test(lock.problem() ?? ''));
    expect(await lock.acquire(within(300))).toBeNull();
  });

  test('while a lease is held is borne until the lease ends', async () => {
    const { lock, meter } = locks.make({ leaseMs: 2000 });
    const hold = await taken(lock);
    const takenAt = performance.now();
    await server.kill();
    await sleep(1000);
    expect(hold.lost.aborted).toBe(false);
    expect(await hold.confirm()).toBe(false);
    expect(hold.lost.aborted).toBe(false);
    await until('the loss is told', () => hold.lost.aborted, 3000);
    expect(performance.now() - takenAt).toBeLessThan(2000 + 500);
    expect([meter.lost, lock.held, lock.up]).toEqual([1, false, false]);
    await hold.release();
    expect(meter.lost).toBe(1);
  });

  test('that comes back empty is told the holder at once, not at the next renewal', async () => {
    const { lock } = locks.make();
    const hold = await taken(lock);
    await server.restart();
    await until('the loss is told', () => hold.lost.aborted, 3000);
    expect(await keysNow()).toEqual([]);
  });

  test('that comes back with its data has not taken the lease', async () => {
    const { lock } = locks.make();
    const hold = await taken(lock);
    await server.save();
    await server.restartWithData();
    await until('it answers', () => lock.up === true);
    expect(await hold.confirm()).toBe(true);
    expect(hold.lost.aborted).toBe(false);
  });

  test('at the moment of giving back costs nothing but the wait, and the key goes when it is back', async () => {
    const { lock } = locks.make();
    const hold = await taken(lock);
    await server.save();
    await server.kill();
    await hold.release();
    expect(lock.held).toBe(false);
    await server.restartWithData();
    await until('the key is gone', async () => (await keysNow()).length === 0);
  });
});

describe('a Redis that accepts and never answers', () => {
  test('is named as the problem, holds up no wait, and serves on when it goes on', async () => {
    const { lock } = locks.make();
    await (await taken(lock)).release();
    server.pause();
    const waiting = lock.acquire(never());
    await until('the problem is known', () => lock.problem() !== null);
    expect(lock.problem()).toBe('Redis does not answer: no reply within 1000 ms');
    expect(lock.up).toBe(false);
    await sleep(1500);
    server.resume();
    const since = performance.now();
    const hold = await waiting;
    expect(performance.now() - since).toBeLessThan(3000);
    expect(await hold?.confirm()).toBe(true);
    await hold?.release();
    expect(await keysNow()).toEqual([]);
  });

  test.each([
    ['on the same connection', 2500],
    ['after the connection was given up', 7000],
  ])('does not run a wait that was given up meanwhile: nobody holds the key then (%s)', async (_says, ms) => {
    const { lock } = locks.make();
    const other = locks.make().lock;
    await (await taken(lock)).release();
    await (await taken(other)).release();
    server.pause();
    expect(await lock.acquire(within(1200))).toBeNull();
    await sleep(ms - 1200);
    server.resume();
    const since = performance.now();
    const hold = await taken(other);
    expect(performance.now() - since).toBeLessThan(3000);
    await hold.release();
    await until('nothing of it is left', async () => (await keysNow()).length === 0, 3000);
    await sleep(500);
    expect(await keysNow()).toEqual([]);
  });

  test('while a lease is held ends it by our own clock, and the key is let go afterwards', async () => {
    const { lock } = locks.make({ leaseMs: 2000 });
    const hold = await taken(lock);
    server.pause();
    await until('the loss is told', () => hold.lost.aborted, 3000);
    server.resume();
    await until('nothing of it is left', async () => (await keysNow()).length === 0, 3000);
  });

  test('at the moment of giving back: the key is let go when it goes on', async () => {
    const { lock } = locks.make();
    const hold = await taken(lock);
    server.pause();
    const before = performance.now();
    await hold.release();
    expect(performance.now() - before).toBeLessThan(2500);
    server.resume();
    await until('the key is gone', async () => (await keysNow()).length === 0, 3000);
  });

  test('is noticed though nobody asks for the lock', async () => {
    const { lock } = locks.make();
    await until('it is up', () => lock.up === true);
    server.pause();
    await until('it is noticed', () => lock.up === false, 8000);
    server.resume();
    await until('it is up again', () => lock.up === true, 8000);
  });

  test('at the start, too', async () => {
    server.pause();
    const { lock } = locks.make();
    expect(await lock.acquire(within(1500))).toBeNull();
    expect(lock.problem()).toMatch(/^Redis does not answer: /);
    server.resume();
    await taken(lock);
  });

  test('carries out no question later than a second after it was asked, even if nobody takes it back', async () => {
    const door = openLockCommands({
      url: server.url,
      password: null,
      key: KEY,
      clock: pushableClock(),
      log: recordingLog(),
    });
    await until('it is up', () => door.up);
    expect(await door.acquire('a', 60_000)).toMatchObject({ kind: 'answered', value: { kind: 'ours' } });
    await door.release('a');
    server.pause();
    expect(await door.acquire('b', 60_000)).toEqual({ kind: 'failed' });
    await sleep(200);
    server.resume();
    await until('it is up', () => door.up);
    await sleep(200);
    expect(await keysNow()).toEqual([]);
    await door.close();
  });

  test('and goes on right after a gate with an open wait was closed, holds the key for nobody', async () => {
    const { lock } = locks.make();
    await (await taken(lock)).release();
    server.pause();
    const waiting = lock.acquire(never());
    await sleep(20);
    await lock.close();
    server.resume();
    expect(await waiting).toBeNull();
    await sleep(300);
    expect(await keysNow()).toEqual([]);
  });

  test('does not hold up the closing', async () => {
    const { lock } = locks.make();
    await taken(lock);
    const waiting = lock.acquire(never());
    server.pause();
    const before = performance.now();
    await lock.close();
    expect(performance.now() - before).toBeLessThan(2500);
    server.resume();
    await waiting;
    await until('the key is gone', async () => (await keysNow()).length === 0, 3000);
  });
});

describe('a Redis that refuses', () => {
  test.each([
    ['no password', null, 'NOAUTH'],
    ['a wrong password', () => 'wrong', 'WRONGPASS'],
  ])('%s is never passed by, and is told', async (_says, password, word) => {
    server = await started(['--requirepass', 'right']);
    const { lock, log } = locks.make({ password });
    expect(await lock.acquire(within(700))).toBeNull();
    expect(lock.problem()).toMatch(new RegExp(`^Redis refuses: ${word} `));
    expect([lock.up, lock.held]).toEqual([false, false]);
    expect(log.lines.filter((line) => line.includes(word))).toHaveLength(1);
  });

  test('the old password finds the new one in its file', async () => {
    server = await started(['--requirepass', 'right']);
    const folder = emptyFolder();
    const file = join(folder, 'password');
    writeFileSync(file, 'old\n');
    const { lock } = locks.make({ password: passwordFrom(file) });
    expect(await lock.acquire(within(500))).toBeNull();
    writeFileSync(file, 'right\n');
    await taken(lock);
    rmSync(folder, { recursive: true });
  });

  test('a password file that others can write is not believed', async () => {
    const folder = emptyFolder();
    const file = join(folder, 'password');
    writeFileSync(file, 'theirs\n');
    chmodSync(file, 0o602);
    const { lock, log } = locks.make({ password: passwordFrom(file) });
    await taken(lock);
    expect(log.lines.join('\n')).toContain(`${file} can be written by others (mode 602)`);
    rmSync(folder, { recursive: true });
  });

  test('a password file that cannot be read is told, and the gate goes on trying', async () => {
    const { lock, log } = locks.make({ password: passwordFrom('/no/such/file') });
    await taken(lock);
    expect(log.lines.join('\n')).toContain('the Redis password cannot be read');
  });

  test('writes, since it is a replica, is asked again on a new connection until it is a master', async () => {
    const { lock } = locks.make();
    await until('it is up', () => lock.up === true);
    const redis = server.client();
    await redis.replicaof('127.0.0.1', await freePort());
    expect(await lock.acquire(within(800))).toBeNull();
    expect(lock.problem()).toMatch(/^Redis refuses: READONLY /);
    expect(lock.up).toBe(false);
    const waiting = lock.acquire(never());
    const connections = async () => Number(/total_connections_received:(\d+)/.exec(await redis.info('stats'))?.[1]);
    const before = await connections();
    await until('it has tried another connection', async () => (await connections()) > before, 3000);
    await redis.replicaof('NO', 'ONE');
    expect(await waiting).not.toBeNull();
    expect(lock.up).toBe(true);
  });

  test('writes, since it is full, gives nothing away', async () => {
    const { lock } = locks.make();
    await until('it is up', () => lock.up === true);
    const redis = server.client();
    await redis.config('SET', 'maxmemory', '1');
    expect(await lock.acquire(within(700))).toBeNull();
    expect(lock.problem()).toMatch(/^Redis refuses: OOM /);
    expect(lock.up).toBe(false);
    await redis.config('SET', 'maxmemory', '0');
    await taken(lock);
  });
});

describe('a Redis that answers neither yes nor no', () => {
  let replying: ReplyingServer;
  afterEach(async () => {
    await locks.closeAll();
    await replying.stop();
  });

  test.each([
    ['-MISCONF Redis is configured to save RDB snapshots, but is currently not able to persist on disk.'],
    ["-READONLY You can't write against a read only replica."],
    ['-LOADING Redis is loading the dataset in memory'],
    ["-OOM command not allowed when used memory > 'maxmemory'."],
    ['-NOAUTH Authentication required.'],
    ['-WRONGPASS invalid username-password pair or user is disabled.'],
    ['-NOSCRIPT No matching script. Please use EVAL.'],
    ['-ERR Error running script (call to f_0): @user_script:3: -READONLY You can’t write'],
  ])('%j is never "yours", and is told', async (reply) => {
    replying = await startReplying(reply);
    const { lock } = locks.make({ url: replying.url });
    expect(await lock.acquire(within(600))).toBeNull();
    expect(lock.held).toBe(false);
    expect(lock.up).toBe(false);
    expect(lock.problem()).toMatch(/^Redis (refuses|does not answer): /);
  });

  test.each([['+OK'], ['$-1'], [':1'], ['*0'], ['*1\r\n$1\r\n1']])('%j is never "yours"', async (reply) => {
    replying = await startReplying(reply);
    const { lock } = locks.make({ url: replying.url });
    expect(await lock.acquire(within(600))).toBeNull();
    expect(lock.held).toBe(false);
  });

  test('a connection that is not made to speak Redis at all is a problem like any other', async () => {
    replying = await startReplying('HTTP/1.1 400 Bad Request');
    const { lock } = locks.make({ url: replying.url });
    expect(await lock.acquire(within(1500))).toBeNull();
    expect(lock.problem()).toMatch(/^Redis /);
  });
});
