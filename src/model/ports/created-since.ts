/** How long containers have been seen created. */

import type { SeenContainer } from '../snapshot.js';

/** Remembers by id, on our own monotonic clock: a container's own time stamp comes from a clock that may be set back or forth. */
export interface CreatedSince {
  /** Takes note of a list. `whole`: it is of all that live, so that what is not in it is forgotten. */
  see(containers: readonly SeenContainer[], whole: boolean): void;
  /** Milliseconds since it was first seen created; 0 where it never was. */
  ms(containerId: string): number;
}
