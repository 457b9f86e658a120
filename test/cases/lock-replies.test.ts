import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Hold, Lock } from '../../src/model/ports/lock.js';
import { within } from '../lock/outside.js';
import { KEY, lockMaker } from '../lock/redis-locks.js';
import { startReplying } from '../lock/replying.js';
import { until } from '../lock/until.js';
import { console_, jobSpec, nobodyGone, testDesk } from '../support/admissions.js';
import { fakeRuntime } from '../support/fake-runtime.js';
import { startRedis } from '../support/services/redis.js';

async function taken(lock: Lock): Promise<Hold> {
  const hold = await lock.acquire(within(5000));
  if (hold === null) throw new Error(`Not taken within 5 s: ${lock.problem()}`);
  return hold;
}

// L06, https://github.com/mike-marcacci/node-redlock/issues/11
describe('Redis answers that are neither OK nor nil were silent, lasted until a restart, or ended the process', () => {
  const REPLIES = [
    '-MISCONF Redis is configured to save RDB snapshots, but is currently not able to persist on disk.',
    "-READONLY You can't write against a read only replica.",
    '-LOADING Redis is loading the dataset in memory',
    "-OOM command not allowed when used memory > 'maxmemory'.",
    '-NOAUTH Authentication required.',
    '-WRONGPASS invalid username-password pair or user is disabled.',
    '-NOSCRIPT No matching script. Please use EVAL.',
  ];
  const OURS = `*4\r\n:1\r\n:${Date.now()}\r\n+ours\r\n:120000`;
  const unhandled: unknown[] = [];
  const note = (fault: unknown): void => void unhandled.push(fault);
  beforeAll(() => void process.on('unhandledRejection', note).on('uncaughtException', note));
  afterAll(() => {
    process.off('unhandledRejection', note).off('uncaughtException', note);
  });

  /** All side by side: each takes as long as a lease. */
  const stories = new Map<string, Promise<Story>>();
  beforeAll(() => {
    for (const reply of REPLIES) stories.set(reply, tellStory(reply));
    return Promise.allSettled(stories.values());
  });

  test.each(REPLIES)('%s', async (reply) => {
    expect(await stories.get(reply)).toEqual({
      asked: { kind: 'refused', code: 'lock_unavailable', namesRedis: true, containers: 0, held: false, up: false },
      wellAgain: true,
      extended: false,
      lostOnce: true,
      heldAfterRelease: false,
      upAfterRelease: false,
    });
    expect(unhandled).toEqual([]);
  });

  interface Story {
    /** Nobody is let through, no container is made, and the answer names Redis. */
    readonly asked: object;
    /** Without a restart. */
    readonly wellAgain: boolean;
    /** A renewal that errs is tried again within the lease, and its end is the loss. */
    readonly extended: boolean;
    readonly lostOnce: boolean;
    /** It settles, and what is started stays. */
    readonly heldAfterRelease: boolean;
    readonly upAfterRelease: boolean;
  }

  async function tellStory(reply: string): Promise<Story> {
    const server = await startReplying(reply);
    const own = lockMaker(() => server.url);
    try {
      const { lock, meter } = own.make({ leaseMs: 1500 });
      const runtime = fakeRuntime();
      const desk = testDesk(runtime, { lock, settings: { admitTimeoutMs: 400 } });
      const { kind, ...said } = await desk.admit(jobSpec('train'), console_, nobodyGone());
      const { code, detail } = said as { code: string; detail: string };
      const refusal = { kind, code, namesRedis: detail.includes('Redis'), containers: runtime.containers.size };
      const asked = { ...refusal, held: lock.held, up: lock.up };
      server.reply = OURS;
      const hold = await taken(lock);
      const wellAgain = lock.up === true;
      server.reply = reply;
      const extended = await hold.confirm();
      await until('the loss is told', () => hold.lost.aborted, 4000);
      const lostOnce = meter.lost === 1;
      server.reply = OURS;
      const again = await taken(lock);
      server.reply = reply;
      await again.release();
      const heldAfterRelease = lock.held;
      await until('it is seen to be down', () => lock.up === false);
      return { asked, wellAgain, extended, lostOnce, heldAfterRelease, upAfterRelease: lock.up === true };
    } finally {
      await own.closeAll();
      await server.stop();
    }
  }

  test('a Redis that forgot its scripts is asked in full, and nobody notices', async () => {
    const redis = await startRedis();
    const locks = lockMaker(() => redis.url);
    const { lock } = locks.make();
    const hold = await taken(lock);
    await redis.client().script('FLUSH');
    expect(await hold.confirm()).toBe(true);
    await redis.client().script('FLUSH');
    await hold.release();
    expect(await redis.client().exists(KEY)).toBe(0);
    await locks.closeAll();
    await redis.stop();
  });
});
