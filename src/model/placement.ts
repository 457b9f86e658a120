/** What a pick says of itself; part of the answer of an admission. */

import type { CardIndex } from './card.js';

export interface Placement {
  /** How many islands the cards span at the best link that splits the machine; null without a topology matrix. */
  readonly islands: number | null;
  /** The slowest link between any two of the cards; null without a matrix or with fewer than two cards. */
  readonly slowest_link: string | null;
  readonly consecutive: boolean;
  /** The first card stands at a multiple of the largest power of two that is not larger than the job. */
  readonly aligned: boolean;
  /** Why these cards and not others, in the order in which candidates were compared. */
  readonly reasons: readonly string[];
}

export interface Pick {
  /** Ascending. */
  readonly indices: readonly CardIndex[];
  readonly placement: Placement;
}
