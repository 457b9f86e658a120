/** What makes one set of cards better than another: each preference with its name, in order of priority. */

import type { CardIndex } from '../model/card.js';
import { splittingLevels, type IndexLinks } from './islands.js';

/** One reason to prefer a set. The candidates with the lowest cost stay; ties go to the next preference. */
export interface Preference {
  readonly name: string;
  readonly cost: (cards: readonly CardIndex[]) => number;
  /** The sentence for the answer when this preference decided, given the winning cost. */
  readonly says: (cost: number) => string;
}

/**
 * In order of priority: fewest cards on which starts failed, then fewest such starts; fewest islands, from the fastest link to
 * the slowest; consecutive; without a matrix fewest aligned blocks of 4, then of 2; least damage to whole free aligned blocks;
 * aligned start. A tie on all of them goes to the lowest indices, since candidates come in that order.
 */
export function preferences(
  free: readonly CardIndex[],
  count: number,
  links: IndexLinks | null,
  failedStarts: ReadonlyMap<CardIndex, number> = new Map(),
): readonly Preference[] {
  const neighbours = [4, 2].map((size) => fewestBlocks(free, size));
  return [
    ...fewestFailedStarts(failedStarts),
    ...(links === null ? [] : fewestIslands(free, links)),
    consecutive(count),
    ...(links === null ? neighbours : []),
    // A whole free block of 8 is worth more than one of 4, and that one more than a pair.
    ...[8, 4, 2].map((size) => leastDamage(free, size)),
    alignedStart(count),
  ];
}

/** Whether the cards are consecutive; true for none and for one. Expects ascending order. */
export function isConsecutive(cards: readonly CardIndex[]): boolean {
  return cards.every((card, at) => at === 0 || card === (cards[at - 1] ?? 0) + 1);
}

/** Whether the first index is a multiple of the largest power of two that does not exceed the number of cards. */
export function isAligned(cards: readonly CardIndex[]): boolean {
  return (cards[0] ?? 0) % powerOfTwoWithin(cards.length) === 0;
}

/**
 * One bad card must not fail every job, and a broken image that failed on every card must not hide the bad one: so the
 * number of starts counts too. Last resort instead of exclusion, since it is unknown what caused a failed start.
 */
function fewestFailedStarts(failedStarts: ReadonlyMap<CardIndex, number>): readonly Preference[] {
  if (![...failedStarts.values()].some((count) => count > 0)) return [];
  const countOf = (card: CardIndex): number => failedStarts.get(card) ?? 0;
  return [
    {
      name: 'cards with failed starts',
      cost: (cards) => cards.filter((card) => countOf(card) > 0).length,
      says: (cost) =>
        cost === 0
          ? 'no start failed on them within the last hour'
          : `no more cards on which starts failed within the last hour than they must: ${cost}`,
    },
    {
      name: 'failed starts',
      cost: (cards) => cards.reduce((sum, card) => sum + countOf(card), 0),
      says: (cost) => `the fewest starts that failed on them within the last hour: ${cost}`,
    },
  ];
}

function fewestIslands(free: readonly CardIndex[], links: IndexLinks): readonly Preference[] {
  return splittingLevels(links).map(({ kind, islandOf, islands }) => ({
    name: `islands by ${kind}`,
    cost: distinct(free, (card) => islandOf.get(card) ?? islands + card),
    says: (cost) =>
      cost === 1 ? `all of them are joined by ${kind} or better` : `they span ${cost} islands of ${kind}, not more`,
  }));
}

function consecutive(count: number): Preference {
  return {
    name: 'consecutive',
    cost: (cards) => Number(!isConsecutive(cards)),
    says: () => `${count} consecutive cards`,
  };
}

function fewestBlocks(free: readonly CardIndex[], size: number): Preference {
  return {
    name: `blocks of ${size}`,
    cost: distinct(free, (card) => Math.floor(card / size)),
    says: (cost) => `they touch ${cost} aligned block${cost === 1 ? '' : 's'} of ${size}, not more`,
  };
}

/** How many aligned blocks of this size are wholly free now and would not be afterwards. */
function leastDamage(free: readonly CardIndex[], size: number): Preference {
  const freeIn = new Map<number, number>();
  for (const card of free) freeIn.set(Math.floor(card / size), (freeIn.get(Math.floor(card / size)) ?? 0) + 1);
  return {
    name: `whole blocks of ${size} kept`,
    cost: distinct(free, (card) => (freeIn.get(Math.floor(card / size)) === size ? Math.floor(card / size) : null)),
    says: (cost) =>
      cost === 0
        ? `every free block of ${size} stays whole`
        : `they break no more free blocks of ${size} than necessary`,
  };
}

function alignedStart(count: number): Preference {
  return {
    name: 'aligned start',
    cost: (cards) => Number(!isAligned(cards)),
    says: () => `the first index is a multiple of ${powerOfTwoWithin(count)}`,
  };
}

function powerOfTwoWithin(count: number): number {
  return count < 2 ? 1 : 2 ** Math.floor(Math.log2(count));
}

/**
 * Counts the distinct groups that some of these cards belong to; group null counts for nothing. Remembers per group the call
 * that last saw it, since allocating a set for each of 12,870 candidates would cost the time.
 */
function distinct(
  free: readonly CardIndex[],
  groupOf: (card: CardIndex) => number | null,
): (cards: readonly CardIndex[]) => number {
  const groups: (number | null)[] = [];
  for (const card of free) groups[card] = groupOf(card);
  const lastSeenIn: number[] = [];
  let call = 0;
  return (cards) => {
    call += 1;
    let count = 0;
    for (const card of cards) {
      const group = groups[card] ?? null;
      if (group === null || lastSeenIn[group] === call) continue;
      lastSeenIn[group] = call;
      count += 1;
    }
    return count;
  };
}
