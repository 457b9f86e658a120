/** How long ago a moment was, by the clock that advanced further. */

import type { Clock } from '../model/ports/outside.js';

/** One moment on both clocks. */
export interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

export function momentOf(clock: Clock): Moment {
  return { monotonic: clock.monotonic(), wall: clock.now() };
}

/**
 * Milliseconds since then, on the clock that advanced further: the monotonic one stops while a virtual machine is suspended,
 * the wall clock can be set back. So a lease may seem shorter than it is, and never longer.
 */
export function elapsedSince(then: Moment, clock: Clock): number {
  return Math.max(clock.monotonic() - then.monotonic, clock.now() - then.wall);
}
