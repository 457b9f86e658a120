import type { Clock } from '../model/ports/outside.js';

/** Node's timers accept at most a signed 32-bit number of milliseconds, and fire at once on a larger one. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The clock of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, act) {
    const timer = setTimeout(act, Math.min(ms, LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};
