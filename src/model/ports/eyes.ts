/** Looking at the machine, and judging what was seen. */

import type { Occupancy } from '../occupancy.js';
import type { Snapshot } from '../snapshot.js';

/** Queries the machine, one look at a time. */
export interface Eyes {
  /** A look that started after this call. For admissions. */
  fresh(): Promise<Snapshot>;
  /**
   * A look in progress, or one that ended at most `maxAgeMs` ago, or a new one. If it has not ended after `withinMs`: the
   * last one, if that ended within a minute and this gate has changed nothing since; else the new one so far, in which parts
   * without an answer are blind by `timeout`, and the rest is valid. For scrapes and pages.
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
