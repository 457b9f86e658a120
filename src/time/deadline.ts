import type { Clock } from '../model/ports/outside.js';

/** One time limit for all steps of a probe. */
export interface Deadline {
  /** Milliseconds that are left, at least 0. */
  left(): number;
  /** Milliseconds since the probe began. */
  took(): number;
}

/** A deadline in `ms` from now. */
export function deadlineIn(ms: number, clock: Pick<Clock, 'monotonic'>): Deadline {
  const startedAt = clock.monotonic();
  const took = (): number => Math.round(clock.monotonic() - startedAt);
  return { took, left: () => Math.max(0, ms - took()) };
}
