import type { Clock } from '../model/ports/outside.js';

/**
 * What a promise gives within that many milliseconds, in `value`; null when it has not settled by then. The promise goes on,
 * and what it rejects with after that is nobody's concern. Rejects as the promise does.
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
