import { localLock } from '../../src/lock/local-lock.js';
import type { Hold, Lock } from '../../src/model/ports/lock.js';

/** A lock that the test controls. Without interference it behaves as any other, which the contract suite verifies. */
export interface FakeLock extends Lock {
  /** Keeps everybody out, as another holder or a Redis that is down would; null ends that. */
  keepOut(problem: string | null): void;
  /** The value of `up`. */
  setUp(up: boolean | null): void;
  /** Takes the lease away from its holder now. */
  lose(): void;
  /** How often it was taken, and how often released. */
  readonly acquired: number;
  readonly released: number;
}

export function fakeLock(): FakeLock {
  const inner = localLock();
  let problem: string | null = null;
  let up: boolean | null = true;
  let door = new AbortController();
  let current: AbortController | null = null;
  let acquired = 0;
  let released = 0;

  function held(hold: Hold): Hold {
    acquired += 1;
    const lost = new AbortController();
    current = lost;
    let given = false;
    return {
      confirm: async () => !lost.signal.aborted && hold.confirm(),
      async release() {
        if (given) return;
        given = true;
        released += 1;
        if (current === lost) current = null;
        await hold.release();
      },
      lost: lost.signal,
    };
  }

  return {
    async acquire(signal) {
      while (problem !== null) {
        if (!(await opens(door.signal, signal))) return null;
      }
      const hold = await inner.acquire(signal);
      return hold === null ? null : held(hold);
    },
    problem: () => problem,
    get held() {
      return current !== null && !current.signal.aborted;
    },
    get up() {
      return up;
    },
    keepOut(why) {
      problem = why;
      if (why === null) door.abort();
      else if (door.signal.aborted) door = new AbortController();
    },
    setUp(value) {
      up = value;
    },
    lose() {
      current?.abort(new Error('the lock was lost: the test said so'));
    },
    get acquired() {
      return acquired;
    },
    get released() {
      return released;
    },
  };
}

/** Resolves when the lock is free (true) or the caller gives up (false). */
function opens(door: AbortSignal, leave: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const either = AbortSignal.any([door, leave]);
    if (either.aborted) return resolve(!leave.aborted);
    return either.addEventListener('abort', () => resolve(!leave.aborted), { once: true });
  });
}
