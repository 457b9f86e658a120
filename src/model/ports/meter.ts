/** Counters of what happened. */

import type { Outcome, Phase } from '../admission.js';
import type { CardUuid } from '../card.js';
import type { Snapshot } from '../snapshot.js';

/** Counts events. Knows decisions only by their names. */
export interface Meter {
  outcome(outcome: Outcome, seconds: number): void;
  phase(phase: Phase, seconds: number): void;
  lockHeldFor(seconds: number): void;
  lockLost(): void;
  claimRace(): void;
  leftOverRemoved(): void;
  /** A container was removed as one that never started, and had run. */
  removedRun(): void;
  granted(cards: number): void;
  startFailed(cards: readonly CardUuid[]): void;
  /** The kernel's log reported an Xid of this card. */
  xid(uuid: CardUuid, code: number): void;
  /** The kernel overwrote lines of its log before they were read. */
  kernelLogGap(): void;
  /** Call once with every finished look: counts its failures and records the time of its successes. */
  looked(snapshot: Snapshot): void;
}

/** What one look adds to the use of the cards. */
export interface HeldUse {
  /** Card-seconds by principal; 0 for one who was just seen first, so that an increase from 0 is visible. */
  readonly added: ReadonlyMap<string, number>;
  /** Principals whose count is given up. Whoever comes again begins at 0, as after a restart. */
  readonly forgotten: readonly string[];
}
