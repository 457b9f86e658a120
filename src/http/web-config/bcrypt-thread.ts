/** Compares passwords with bcrypt hashes in a thread of its own: each takes a tenth of a second or more of a core. */

import { Worker } from 'node:worker_threads';

export interface BcryptThread {
  /** Null: unknown, because too many comparisons are waiting or the thread failed. */
  matches(password: string, hash: string): Promise<boolean | null>;
}

/** The maximum number of waiting comparisons. A client with wrong passwords delays only clients that are new. */
const MOST_WAITING = 8;

/** Starts no thread before the first comparison; it does not keep the process alive. */
export function createBcryptThread(): BcryptThread {
  let worker: Worker | null = null;
  const waiting = new Map<number, (verdict: boolean | null) => void>();
  let last = 0;

  function failed(): void {
    worker = null;
    for (const settle of waiting.values()) settle(null);
    waiting.clear();
  }

  function thread(): Worker {
    if (worker !== null) return worker;
    worker = new Worker(new URL('bcrypt-worker.js', import.meta.url));
    worker.unref();
    worker.on('message', ({ number, verdict }: { number: number; verdict: boolean }) => {
      waiting.get(number)?.(verdict);
      waiting.delete(number);
    });
    worker.on('error', failed);
    worker.on('exit', failed);
    return worker;
  }

  return {
    matches(password, hash) {
      if (waiting.size >= MOST_WAITING) return Promise.resolve(null);
      const number = (last += 1);
      return new Promise((resolve) => {
        waiting.set(number, resolve);
        try {
          // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
          thread().postMessage({ number, password, hash });
        } catch {
          // No descriptor or memory for a thread.
          failed();
        }
      });
    },
  };
}
