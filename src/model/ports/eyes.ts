/** Looking at the machine, and judging what was seen. */

import type { Occupancy } from '../occupancy.js';
import type { Snapshot } from '../snapshot.js';

/** Queries the machine, one look at a time. */
export interface Eyes {
  /** A look that started after this call. For admissions. */
  fresh(): Promise<Snapshot>;
  /**
   * A look that is running, or one that ended at most `maxAgeMs` ago, or a new one. Where that has not ended after `withinMs`: the
   * last one, if it ended within a minute and nothing was changed by this gate since; else the parts of the new one that have not
   * answered read as blind by `timeout`, and the rest is true. For scrapes and pages.
   */
  recent(maxAgeMs: number, withinMs: number): Promise<Snapshot>;
  /** This gate has changed something: `recent` must not reuse any look that started before this call. */
  outdated(): void;
}

/** Judges each look by the settings of this gate. */
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
