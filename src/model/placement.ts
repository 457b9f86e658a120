/** How a set of cards was picked; part of the answer of an admission. */

import type { CardIndex } from './card.js';

export interface Placement {
  /** How many islands the cards span at the fastest link level that splits the machine; null without a topology matrix. */
  readonly islands: number | null;
  /** The slowest link between any two of the cards; null without a matrix or with fewer than two cards. */
  readonly slowest_link: string | null;
  readonly consecutive: boolean;
  /** The first index is a multiple of the largest power of two that does not exceed the number of cards. */
  readonly aligned: boolean;
  /** Why these cards and not others, in the order in which candidates were compared. */
  readonly reasons: readonly string[];
}

export interface Pick {
  /** Ascending. */
  readonly indices: readonly CardIndex[];
  readonly placement: Placement;
}
