import type { Hold, Lock, Turn, TurnQueue } from '../model/ports/lock.js';
import type { Clock } from '../model/ports/outside.js';

export interface TurnQueueParts<Job, Result> {
  readonly lock: Lock;
  /** How many may stand in line; those being served are not counted. */
  readonly maxWaiting: number;
  readonly clock: Clock;
  /** Serves one batch under the lock: as many results as jobs, in the same order. What it throws, each of its jobs gets. */
  serve(jobs: readonly Job[], hold: Hold): Promise<readonly Result[]>;
  /** Told after each batch how long the lock was held, in seconds. */
  onReleased(heldSeconds: number): void;
}

interface Waiter<Job, Result> {
  readonly job: Job;
  readonly joinedAt: number;
  /** Takes it out of everybody's hands but ours: from now on it is served and cannot leave. */
  call(): void;
  settle(turn: Turn<Result>): void;
  fail(error: unknown): void;
}

/**
 * The line in front of the lock. Everybody in it when the lock is taken is one batch, in order of arrival; those who come
 * meanwhile are the next. There is never more than one call for the lock, and none when nobody is left in line.
 */
export function createTurnQueue<Job, Result>(parts: TurnQueueParts<Job, Result>): TurnQueue<Job, Result> {
  const { lock, clock } = parts;
  let line: Waiter<Job, Result>[] = [];
  let everybodyLeft = new AbortController();
  let serving = false;

  async function serveAll(): Promise<void> {
    if (serving) return;
    serving = true;
    while (line.length > 0) await serveNext();
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
      // Given up without our asking: the lock is closed and nobody in line will ever have it.
      if (!calledOff.aborted) for (const waiter of callBatch()) waiter.settle({ kind: 'left' });
      return;
    }
    await serveBatch(callBatch(), hold);
  }

  async function serveBatch(batch: readonly Waiter<Job, Result>[], hold: Hold): Promise<void> {
    const takenAt = clock.monotonic();
    const served = batch.length === 0 ? [] : await resultsOf(batch, hold);
    await hold.release();
    parts.onReleased((clock.monotonic() - takenAt) / 1000);
    batch.forEach((waiter, place) => {
      if ('error' in served) waiter.fail(served.error);
      else if (served.length !== batch.length) waiter.fail(miscounted(batch.length, served.length));
      else waiter.settle({ kind: 'served', result: served[place] as Result, waitedMs: takenAt - waiter.joinedAt });
    });
  }

  async function resultsOf(
    batch: readonly Waiter<Job, Result>[],
    hold: Hold,
  ): Promise<readonly Result[] | { error: unknown }> {
    try {
      return await parts.serve(
        batch.map((waiter) => waiter.job),
        hold,
      );
    } catch (error) {
      return { error };
    }
  }

  function callBatch(): readonly Waiter<Job, Result>[] {
    const batch = line;
    line = [];
    for (const waiter of batch) waiter.call();
    return batch;
  }

  function leave(waiter: Waiter<Job, Result>): void {
    line = line.filter((other) => other !== waiter);
    if (line.length === 0) everybodyLeft.abort();
    waiter.settle({ kind: 'left' });
  }

  return {
    async join(job, signal) {
      if (signal.aborted) return { kind: 'left' };
      if (line.length >= parts.maxWaiting) return { kind: 'full' };
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
        line.push(waiter);
        void serveAll();
      });
    },
    get waiting() {
      return line.length;
    },
  };
}

function miscounted(jobs: number, results: number): Error {
  return new Error(`A batch of ${jobs} jobs came back with ${results} results.`);
}
