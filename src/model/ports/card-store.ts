/** What is remembered of the cards across a restart. */

import type { CardUuid } from '../card.js';
import type { Exclusion, RememberedCard } from '../snapshot.js';

/** The cards seen before and the cards taken out, kept in the state folder across a restart. */
export interface CardStore {
  remembered(): readonly RememberedCard[];
  /**
   * Replaces the remembered cards; written only on a change. Never throws: if it cannot be written, logs that and keeps it
   * in memory.
   */
  remember(cards: readonly RememberedCard[]): void;
  /**
   * Those in force now, by the wall clock. One that has reached its `until` is dropped at this call, logged once, and stays
   * dropped if the clock is set back later. One that has not ended lasts until the clock shows that time: a clock that is set
   * back makes it longer, one that is set forward ends it early.
   */
  exclusions(): readonly Exclusion[];
  /** These three reject when the folder cannot be written: an operator's command must not be lost silently. */
  exclude(exclusion: Exclusion): Promise<void>;
  /** Resolves to whether it had been excluded. */
  include(uuid: CardUuid): Promise<boolean>;
  /** Resolves to whether it had been remembered. */
  forget(uuid: CardUuid): Promise<boolean>;
}
