/** What makes one set of cards better than another, each preference by name, in the order in which they are asked. */

import type { CardIndex } from '../model/card.js';
import { splittingLevels, type IndexLinks } from './islands.js';

/** One reason to prefer cards. Among candidates the lowest cost stays; ties go to the next preference. */
export interface Preference {
  readonly name: string;
  readonly cost: (cards: readonly CardIndex[]) => number;
  /** The sentence for the answer when this preference decided something, given the cost that won. */
  readonly says: (cost: number) => string;
}

/**
 * In this order: fewest islands, from the fastest link to the slowest; consecutive; without a matrix fewest
 * aligned blocks of 4, then of 2; least damage to whole aligned blocks that are free; aligned start. What is equal by all of
 * them is decided by the lowest index, since candidates come in that order.
 */
export function preferences(
  free: readonly CardIndex[],
  count: number,
  links: IndexLinks | null,
): readonly Preference[] {
  const neighbours = [4, 2].map((size) => fewestBlocks(free, size));
  return [
    ...(links === null ? [] : fewestIslands(free, links)),
    consecutive(count),
    ...(links === null ? neighbours : []),
    // A whole free block of 8 is worth more than one of 4, and that more than a pair.
    ...[8, 4, 2].map((size) => leastDamage(free, size)),
    alignedStart(count),
  ];
}

/** True for cards without a gap between them; none and one included. Expects ascending order. */
export function isConsecutive(cards: readonly CardIndex[]): boolean {
  return cards.every((card, at) => at === 0 || card === (cards[at - 1] ?? 0) + 1);
}

/** True when the first card stands at a multiple of the largest power of two that is not larger than the job. */
export function isAligned(cards: readonly CardIndex[]): boolean {
  return (cards[0] ?? 0) % powerOfTwoWithin(cards.length) === 0;
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

/** How many aligned blocks of this size are free as a whole and would not be afterwards. */
function leastDamage(free: readonly CardIndex[], size: number): Preference {
  const freeIn = new Map<number, number>();
  for (const card of free) freeIn.set(Math.floor(card / size), (freeIn.get(Math.floor(card / size)) ?? 0) + 1);
  return {
    name: `whole blocks of ${size} kept`,
    cost: distinct(free, (card) => (freeIn.get(Math.floor(card / size)) === size ? Math.floor(card / size) : null)),
    says: (cost) =>
      cost === 0
        ? `every free block of ${size} stays whole`
        : `they break no more free blocks of ${size} than they must`,
  };
}

function alignedStart(count: number): Preference {
  return {
    name: 'aligned start',
    cost: (cards) => Number(!isAligned(cards)),
    says: () => `the first one stands at a multiple of ${powerOfTwoWithin(count)}`,
  };
}

function powerOfTwoWithin(count: number): number {
  return count < 2 ? 1 : 2 ** Math.floor(Math.log2(count));
}

/**
 * Counts how many different groups some of these cards fall into; a card in group null counts for nothing. It remembers per
 * group the call that saw it last: a set for each of 12,870 candidates is what would cost the time.
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
