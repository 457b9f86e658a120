/** For how long containers have been in `created`. */

import type { SeenContainer } from '../snapshot.js';

/** Remembers this by id, on our own monotonic clock: a container's time stamp comes from a clock that may be changed. */
export interface CreatedSince {
  /** Records a list. `whole`: it has all live containers, so that any others are forgotten. */
  see(containers: readonly SeenContainer[], whole: boolean): void;
  /** Milliseconds since it was first seen created; 0 where it never was. */
  ms(containerId: string): number;
}
