import type { Clock } from '../model/ports/outside.js';

/**
 * The promise's result in `value`, or null when it has not settled within that many milliseconds. The promise goes on, and a
 * later rejection is ignored. Rejects as the promise does.
 */
export async function inTime<T>(
  promise: Promise<T>,
  ms: number,
  clock: Pick<Clock, 'after'>,
): Promise<{ readonly value: T } | null> {
  let callOff: (() => void) | undefined;
  const late = new Promise<null>((resolve) => {
    callOff = clock.after(ms, () => resolve(null));
  });
  try {
    return await Promise.race([promise.then((value) => ({ value })), late]);
  } finally {
    callOff?.();
  }
}
