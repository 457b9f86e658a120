import type { Hold, Lock } from '../model/ports/lock.js';

/**
 * The lock of a gate that is alone on its machine: no Redis, cannot be lost, and granted in order of arrival as soon as the
 * previous holder in this process releases it.
 */
export function localLock(): Lock {
  const queue: (() => void)[] = [];
  let held = false;

  function take(): Hold {
    held = true;
    let mine = true;
    return {
      confirm: async () => mine,
      async release() {
        if (!mine) return;
        mine = false;
        held = false;
        queue.shift()?.();
      },
      lost: new AbortController().signal,
    };
  }

  async function acquire(signal: AbortSignal): Promise<Hold | null> {
    if (signal.aborted) return null;
    if (!held) return take();
    return new Promise((resolve) => {
      const myTurn = () => {
        signal.removeEventListener('abort', leave);
        resolve(take());
      };
      const leave = () => {
        queue.splice(queue.indexOf(myTurn), 1);
        resolve(null);
      };
      queue.push(myTurn);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  return {
    acquire,
    problem: () => null,
    get held() {
      return held;
    },
    up: null,
  };
}
