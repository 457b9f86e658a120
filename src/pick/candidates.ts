/** Which sets of cards are compared. */

import type { CardIndex } from '../model/card.js';
import { splittingLevels, type IndexLinks } from './islands.js';

/**
 * Above this many sets, only windows and islands are compared. All C(16,8) = 12,870 sets of a 16-card machine stay below it.
 */
export const MOST_SETS = 20_000;

export interface Candidates {
  /** Whether every possible set is a candidate. */
  readonly complete: boolean;
  /**
   * Yields the sets in order of their indices, each ascending. The array is reused for the next set: copy a set to keep it.
   */
  each(consider: (cards: readonly CardIndex[]) => void): void;
}

/** Never empty where `count` cards are free. `free` is ascending and without duplicates. */
export function candidatesFor(
  free: readonly CardIndex[],
  count: number,
  links: IndexLinks | null,
  failedStarts: ReadonlyMap<CardIndex, number> = new Map(),
): Candidates {
  if (numberOfSets(free.length, count) <= MOST_SETS) {
    return { complete: true, each: (consider) => eachSet(free, count, consider) };
  }
  const soundFirst = free.toSorted((a, b) => (failedStarts.get(a) ?? 0) - (failedStarts.get(b) ?? 0) || a - b);
  const sound = free.filter((card) => !failedStarts.get(card));
  const sets = eachOnce([
    ...(sound.length < count ? [] : windowsAndIslands(sound, count, links)),
    ...windowsAndIslands(free, count, links),
    soundFirst.slice(0, count),
  ]);
  return { complete: false, each: (consider) => sets.forEach((cards) => consider(cards)) };
}

function numberOfSets(from: number, count: number): number {
  let sets = 1;
  for (let taken = 1; taken <= Math.min(count, from - count); taken += 1) sets = (sets * (from - taken + 1)) / taken;
  return sets;
}

function eachSet(free: readonly CardIndex[], count: number, consider: (cards: readonly CardIndex[]) => void): void {
  const chosen: CardIndex[] = [];
  const extend = (from: number): void => {
    const missing = count - chosen.length;
    if (missing === 0) {
      consider(chosen);
      return;
    }
    for (let at = from; at <= free.length - missing; at += 1) {
      chosen.push(free[at] as CardIndex);
      extend(at + 1);
      chosen.pop();
    }
  };
  extend(0);
}

/**
 * Neighbours in the list of free cards (which include consecutive and aligned sets), neighbours within each island, and sets
 * combined from the fullest islands or the fewest blocks. The first kind alone serves every request that can be served.
 */
function windowsAndIslands(
  free: readonly CardIndex[],
  count: number,
  links: IndexLinks | null,
): readonly (readonly CardIndex[])[] {
  const groupings = [
    ...[8, 4, 2].map((size) => groups(free, (card) => Math.floor(card / size))),
    ...(links === null ? [] : splittingLevels(links)).map(({ islandOf, islands }) =>
      groups(free, (card) => islandOf.get(card) ?? islands + card),
    ),
  ];
  return [
    ...windows(free, count),
    ...groupings.flatMap((grouping) => grouping.flatMap((cards) => windows(cards, count))),
    ...groupings.map((grouping) =>
      grouping
        .toSorted((a, b) => b.length - a.length)
        .flat()
        .slice(0, count),
    ),
  ];
}

/** In order of their indices, each ascending. */
function eachOnce(found: readonly (readonly CardIndex[])[]): readonly (readonly CardIndex[])[] {
  const sets = found.map((cards) => cards.toSorted((a, b) => a - b));
  return [...new Map(sets.map((cards) => [cards.join(), cards])).values()].toSorted(inOrder);
}

function windows(cards: readonly CardIndex[], count: number): CardIndex[][] {
  return Array.from({ length: Math.max(0, cards.length - count + 1) }, (_, at) => cards.slice(at, at + count));
}

function groups(cards: readonly CardIndex[], groupOf: (card: CardIndex) => number): CardIndex[][] {
  const found = new Map<number, CardIndex[]>();
  for (const card of cards) found.set(groupOf(card), [...(found.get(groupOf(card)) ?? []), card]);
  return [...found.values()];
}

function inOrder(one: readonly CardIndex[], other: readonly CardIndex[]): number {
  const at = one.findIndex((card, place) => card !== other[place]);
  return at === -1 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}
