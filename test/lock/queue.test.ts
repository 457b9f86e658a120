import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createTurnQueue, type TurnQueueParts } from '../../src/lock/queue.js';
import type { Hold, Lock, ServedJob } from '../../src/model/ports/lock.js';
import { fakeLock } from '../support/fake-lock.js';
import { never, pushableClock } from './outside.js';
import { until } from './until.js';

type Parts = TurnQueueParts<string, string>;

function queueOn(lock: Lock, over: Partial<Parts> = {}) {
  const heldSeconds: number[] = [];
  const queue = createTurnQueue<string, string>({
    lock,
    clock: pushableClock(),
    serve: async (batch) => answerAll(batch),
    onReleased: (seconds) => void heldSeconds.push(seconds),
    ...over,
  });
  return { queue, heldSeconds };
}

function answerAll(batch: readonly ServedJob<string, string>[]): void {
  for (const { job, answer } of batch) answer(job.toUpperCase());
}

/** Serves a batch only when told to. */
function gatedServe() {
  const batches: { jobs: readonly string[]; hold: Hold; finish(): void; fail(error: Error): void }[] = [];
  const serve: Parts['serve'] = (batch, hold) =>
    new Promise((resolve, reject) => {
      const finish = () => {
        answerAll(batch);
        resolve();
      };
      batches.push({ jobs: batch.map(({ job }) => job), hold, finish, fail: reject });
    });
  return { batches, serve };
}

describe('the queue in front of the lock', () => {
  test('one who comes alone is served under the lock and told how long it took', async () => {
    const lock = fakeLock();
    const { queue, heldSeconds } = queueOn(lock, {
      serve: async (batch) => {
        for (const { job, answer } of batch) answer(`${job}, held: ${lock.held}`);
      },
    });
    expect(await queue.join('a', never())).toMatchObject({ kind: 'served', result: 'a, held: true' });
    await until('the lock is back', () => heldSeconds.length === 1);
    expect(lock.held).toBe(false);
    expect(queue.waiting).toBe(0);
  });

  test('everybody who waits when the lock is taken is one batch, those who come meanwhile are the next', async () => {
    const lock = fakeLock();
    lock.keepOut('held by another');
    const { batches, serve } = gatedServe();
    const { queue } = queueOn(lock, { serve });
    const early = ['a', 'b', 'c'].map((job) => queue.join(job, never()));
    await sleep(10);
    expect(queue.waiting).toBe(3);
    lock.keepOut(null);
    await until('batch 1 is served', () => batches.length === 1);
    expect(queue.waiting).toBe(0);
    const late = ['d', 'e'].map((job) => queue.join(job, never()));
    expect(queue.waiting).toBe(2);
    batches[0]?.finish();
    await Promise.all(early);
    await until('batch 2 is served', () => batches.length === 2);
    batches[1]?.finish();
    expect(await Promise.all(late)).toMatchObject([{ result: 'D' }, { result: 'E' }]);
    expect(batches.map(({ jobs }) => jobs)).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e'],
    ]);
    expect([lock.acquired, lock.released]).toEqual([2, 2]);
  });

  test('one who leaves is gone from the batch, and the others are served', async () => {
    const lock = fakeLock();
    lock.keepOut('held by another');
    const { queue } = queueOn(lock);
    const leave = new AbortController();
    const stays = queue.join('a', never());
    const leaves = queue.join('b', leave.signal);
    leave.abort();
    expect(await leaves).toEqual({ kind: 'left' });
    expect(queue.waiting).toBe(1);
    lock.keepOut(null);
    expect(await stays).toMatchObject({ kind: 'served', result: 'A' });
  });

  test('one who gave up before joining never waits', async () => {
    const lock = fakeLock();
    const { queue } = queueOn(lock);
    expect(await queue.join('a', AbortSignal.abort())).toEqual({ kind: 'left' });
    expect(lock.acquired).toBe(0);
  });

  test('one who gives up while being served is served', async () => {
    const { batches, serve } = gatedServe();
    const { queue } = queueOn(fakeLock(), { serve });
    const leave = new AbortController();
    const turn = queue.join('a', leave.signal);
    await until('batch 1 is served', () => batches.length === 1);
    leave.abort();
    batches[0]?.finish();
    expect(await turn).toMatchObject({ kind: 'served', result: 'A' });
  });

  test('a batch that throws fails its own jobs with that error, gives the lock back, and the next is served', async () => {
    const lock = fakeLock();
    const { batches, serve } = gatedServe();
    const { queue } = queueOn(lock, { serve });
    const first = queue.join('a', never());
    await until('batch 1 is served', () => batches.length === 1);
    const second = queue.join('b', never());
    batches[0]?.fail(new Error('a bug of ours'));
    await expect(first).rejects.toThrow('a bug of ours');
    await until('batch 2 is served', () => batches.length === 2);
    batches[1]?.finish();
    expect(await second).toMatchObject({ kind: 'served', result: 'B' });
    expect(lock.held).toBe(false);
  });

  test('a batch that throws takes no answer back', async () => {
    const { queue } = queueOn(fakeLock(), {
      async serve(batch) {
        batch[0]?.answer('in time');
        throw new Error('a bug of ours');
      },
    });
    expect(await queue.join('a', never())).toMatchObject({ kind: 'served', result: 'in time' });
  });

  test('one that fails by itself fails nobody else', async () => {
    const lock = fakeLock();
    lock.keepOut('held by another');
    const { queue } = queueOn(lock, {
      async serve([first, second]) {
        first?.fail(new Error('a bug of ours'));
        second?.answer('well');
      },
    });
    const turns = [queue.join('a', never()), queue.join('b', never())];
    lock.keepOut(null);
    await expect(turns[0]).rejects.toThrow('a bug of ours');
    expect(await turns[1]).toMatchObject({ result: 'well' });
  });

  test('one may be answered while the lock is held, and one after it went back', async () => {
    const lock = fakeLock();
    let answerLate = (): void => {};
    lock.keepOut('held by another');
    const { batches, serve } = gatedServe();
    const { queue } = queueOn(lock, {
      async serve(batch, hold) {
        batch[0]?.answer('early');
        answerLate = () => batch[1]?.answer('late');
        await serve([], hold);
      },
    });
    const turns = [queue.join('a', never()), queue.join('b', never())];
    lock.keepOut(null);
    expect(await turns[0]).toMatchObject({ result: 'early' });
    expect(lock.held).toBe(true);
    batches[0]?.finish();
    await until('the lock is back', () => lock.released === 1);
    answerLate();
    expect(await turns[1]).toMatchObject({ result: 'late' });
  });

  test('when everybody has left, nobody waits for the lock, and whoever comes then waits anew', async () => {
    const lock = fakeLock();
    const calls: AbortSignal[] = [];
    const watched: Lock = {
      acquire(signal) {
        calls.push(signal);
        return lock.acquire(signal);
      },
      problem: () => lock.problem(),
      held: false,
      up: null,
    };
    lock.keepOut('held by another');
    const { queue } = queueOn(watched);
    const leave = new AbortController();
    const left = [queue.join('a', leave.signal), queue.join('b', leave.signal)];
    await sleep(10);
    leave.abort();
    await Promise.all(left);
    expect(calls.map((signal) => signal.aborted)).toEqual([true]);
    const later = queue.join('c', never());
    await until('the lock is asked for again', () => calls.length === 2);
    lock.keepOut(null);
    expect(await later).toMatchObject({ kind: 'served', result: 'C' });
  });

  test('there is never more than one call for the lock', async () => {
    const lock = fakeLock();
    let open = 0;
    let most = 0;
    const counting: Lock = {
      async acquire(signal) {
        open += 1;
        most = Math.max(most, open);
        const hold = await lock.acquire(signal);
        await sleep(2);
        open -= 1;
        return hold;
      },
      problem: () => null,
      held: false,
      up: null,
    };
    const { queue } = queueOn(counting);
    const turns = [];
    for (let n = 0; n < 30; n += 1) {
      turns.push(queue.join(`job ${n}`, n % 3 === 0 ? AbortSignal.timeout(3) : never()));
      await sleep(1);
    }
    await Promise.all(turns);
    expect(most).toBe(1);
  });

  test('those in line are let go when the lock is closed for good', async () => {
    const closed: Lock = { acquire: async () => null, problem: () => null, held: false, up: false };
    const { queue } = queueOn(closed);
    expect(await queue.join('a', never())).toEqual({ kind: 'left' });
  });

  test('a lock that throws fails those in line and nobody after them', async () => {
    let broken = true;
    const lock = fakeLock();
    const breaking: Lock = {
      acquire: async (signal) => (broken ? Promise.reject(new Error('a bug of ours')) : lock.acquire(signal)),
      problem: () => null,
      held: false,
      up: null,
    };
    const { queue } = queueOn(breaking);
    await expect(queue.join('a', never())).rejects.toThrow('a bug of ours');
    broken = false;
    expect(await queue.join('b', never())).toMatchObject({ kind: 'served', result: 'B' });
  });

  test('a batch that gives the lock back by itself goes on without it', async () => {
    const lock = fakeLock();
    const { queue } = queueOn(lock, {
      async serve(batch, hold) {
        await hold.release();
        for (const { answer } of batch) answer(`held: ${lock.held}`);
      },
    });
    expect(await queue.join('a', never())).toMatchObject({ result: 'held: false' });
    expect(lock.released).toBe(1);
  });
});
