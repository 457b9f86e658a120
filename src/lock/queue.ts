import type { Hold, Lock, ServedJob, Turn, TurnQueue } from '../model/ports/lock.js';
import type { Clock } from '../model/ports/outside.js';

export interface TurnQueueParts<Job, Result> {
  readonly lock: Lock;
  readonly clock: Clock;
  /**
   * Serves one batch under the lock, in order of arrival. The lock is released when this settles, or before if it releases
   * the hold itself. By then each job has its answer, or gets it later. If this throws, each job without an answer gets the
   * error.
   */
  serve(batch: readonly ServedJob<Job, Result>[], hold: Hold): Promise<void>;
  /** Called after each batch with how long the lock was held, in seconds. */
  onReleased(heldSeconds: number): void;
}

interface Waiter<Job, Result> {
  readonly job: Job;
  readonly joinedAt: number;
  /** From now on it is being served and cannot leave the queue. */
  call(): void;
  settle(turn: Turn<Result>): void;
  fail(error: unknown): void;
}

/**
 * The queue in front of the lock. All jobs in it when the lock is taken are one batch, in order of arrival; jobs that arrive
 * meanwhile are the next batch. There is never more than one request for the lock, and none when no job waits.
 */
export function createTurnQueue<Job, Result>(parts: TurnQueueParts<Job, Result>): TurnQueue<Job, Result> {
  const { lock, clock } = parts;
  let waiting: Waiter<Job, Result>[] = [];
  let everybodyLeft = new AbortController();
  let serving = false;

  async function serveAll(): Promise<void> {
    if (serving) return;
    serving = true;
    while (waiting.length > 0) await serveNext();
    serving = false;
  }

  async function serveNext(): Promise<void> {
    everybodyLeft = new AbortController();
    const calledOff = everybodyLeft.signal;
    let hold: Hold | null;
    try {
      hold = await lock.acquire(calledOff);
    } catch (error) {
      for (const waiter of callBatch()) waiter.fail(error);
      return;
    }
    if (hold === null) {
      // The lock gave up without our asking: it is closed, and this process will never get it.
      if (!calledOff.aborted) for (const waiter of callBatch()) waiter.settle({ kind: 'left' });
      return;
    }
    await serveBatch(callBatch(), hold);
  }

  async function serveBatch(waiters: readonly Waiter<Job, Result>[], hold: Hold): Promise<void> {
    const takenAt = clock.monotonic();
    try {
      if (waiters.length > 0)
        await parts.serve(
          waiters.map((waiter) => toServed(waiter, takenAt)),
          hold,
        );
    } catch (error) {
      for (const waiter of waiters) waiter.fail(error);
    }
    await hold.release();
    parts.onReleased((clock.monotonic() - takenAt) / 1000);
  }

  function callBatch(): readonly Waiter<Job, Result>[] {
    const batch = waiting;
    waiting = [];
    for (const waiter of batch) waiter.call();
    return batch;
  }

  function leave(waiter: Waiter<Job, Result>): void {
    waiting = waiting.filter((other) => other !== waiter);
    if (waiting.length === 0) everybodyLeft.abort();
    waiter.settle({ kind: 'left' });
  }

  return {
    async join(job, signal) {
      if (signal.aborted) return { kind: 'left' };
      return new Promise((settle, fail) => {
        const goAway = () => leave(waiter);
        const waiter: Waiter<Job, Result> = {
          job,
          joinedAt: clock.monotonic(),
          call: () => signal.removeEventListener('abort', goAway),
          settle,
          fail,
        };
        signal.addEventListener('abort', goAway, { once: true });
        waiting.push(waiter);
        void serveAll();
      });
    },
    get waiting() {
      return waiting.length;
    },
  };
}

function toServed<Job, Result>(waiter: Waiter<Job, Result>, takenAt: number): ServedJob<Job, Result> {
  return {
    job: waiter.job,
    answer: (result) => waiter.settle({ kind: 'served', result, waitedMs: takenAt - waiter.joinedAt }),
    fail: (error) => waiter.fail(error),
  };
}
