/** What is kept of the cards over a restart. */

import type { CardUuid } from '../card.js';
import type { Exclusion, RememberedCard } from '../snapshot.js';

/** The cards seen before and the cards taken out, kept in the state folder over a restart. */
export interface CardStore {
  remembered(): readonly RememberedCard[];
  /** Replaces what is remembered; written only when it changed. Never throws: what cannot be written is logged and kept in memory. */
  remember(cards: readonly RememberedCard[]): void;
  exclusions(): readonly Exclusion[];
  /** These three reject when the folder cannot be written: an operator's word must not be lost silently. */
  exclude(exclusion: Exclusion): Promise<void>;
  /** Whether it had been excluded. */
  include(uuid: CardUuid): Promise<boolean>;
  /** Whether it had been remembered. */
  forget(uuid: CardUuid): Promise<boolean>;
}
