/**
 * On which cards starts fail, so that one bad card does not fail every job. In memory only: a restarted gate learns it
 * again.
 */

import type { CardUuid } from '../model/card.js';
import type { Clock } from '../model/ports/outside.js';

export interface FailedStarts {
  failed(cards: readonly CardUuid[]): void;
  /** A successful start clears its cards: earlier failures on them were caused by the image, or are over. */
  succeeded(cards: readonly CardUuid[]): void;
  /**
   * For each card, how many starts failed on it within the last hour without a later success. A card without any is not in
   * it.
   */
  now(): ReadonlyMap<CardUuid, number>;
}

const WITHIN_MS = 60 * 60_000;
/** A higher count adds no information. */
const MOST_KEPT = 100;

export function createFailedStarts(clock: Pick<Clock, 'monotonic'>): FailedStarts {
  const failedAt = new Map<CardUuid, readonly number[]>();
  return {
    failed(cards) {
      const at = clock.monotonic();
      for (const card of cards) failedAt.set(card, [...(failedAt.get(card) ?? []), at].slice(-MOST_KEPT));
    },
    succeeded(cards) {
      for (const card of cards) failedAt.delete(card);
    },
    now() {
      const since = clock.monotonic() - WITHIN_MS;
      const counts = Array.from(failedAt, ([card, all]) => [card, all.filter((at) => at > since).length] as const);
      return new Map(counts.filter(([, count]) => count > 0));
    },
  };
}
