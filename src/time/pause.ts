import type { Clock } from '../model/ports/outside.js';

/** Waits that many milliseconds, or until the signal aborts. Never rejects; does not wait for zero or less. */
export function pause(ms: number, clock: Pick<Clock, 'after'>, signal?: AbortSignal): Promise<void> {
  if (ms <= 0 || signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const callOff = clock.after(ms, end);
    signal?.addEventListener('abort', end, { once: true });
    function end(): void {
      callOff();
      signal?.removeEventListener('abort', end);
      resolve();
    }
  });
}
