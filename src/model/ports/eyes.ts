/** Looking at the machine, and what a look adds up to. */

import type { Occupancy } from '../occupancy.js';
import type { Snapshot } from '../snapshot.js';

/** Looks at the machine, one look at a time. */
export interface Eyes {
  /** A look that started after this call. For admissions. */
  fresh(): Promise<Snapshot>;
  /**
   * A look that is running, or one that ended at most `maxAgeMs` ago, or a new one. After `withinMs` the parts that have not
   * answered read as blind by `timeout`, and the rest is true. For scrapes and pages.
   */
  recent(maxAgeMs: number, withinMs: number): Promise<Snapshot>;
  /** Something was changed by this gate: no look that started before this call is used again by `recent`. */
  outdated(): void;
}

/** Judges what the eyes see, by the settings of this gate. */
export interface Observer {
  recent(withinMs: number): Promise<Observation>;
  fresh(): Promise<Observation>;
  /** Judges the same look with another list of containers. */
  rejudge(snapshot: Snapshot): Occupancy;
}

export interface Observation {
  readonly snapshot: Snapshot;
  readonly occupancy: Occupancy;
}
