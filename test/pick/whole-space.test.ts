import { describe, expect, test } from 'vitest';
import { cardIndex } from '../../src/model/card.js';
import { MOST_SETS, candidatesFor } from '../../src/pick/candidates.js';
import type { IndexLinks } from '../../src/pick/islands.js';
import { pick } from '../../src/pick/pick.js';
import { preferences } from '../../src/pick/preferences.js';
import { twoIslands } from './links.js';
import { naiveOrder, subsets } from './naive.js';

const everyFreeSet = Array.from({ length: 256 }, (_, bits) =>
  [...Array(8).keys()].filter((card) => (bits >> card) % 2 === 1),
);

describe.each(Array.from({ length: 10 }, (_, count) => count))('for %i of 8 cards, whichever are free', (count) => {
  test('exactly as many free cards are picked, or none when there are too few', () => {
    for (const free of everyFreeSet) {
      for (const links of [null, twoIslands]) {
        const answer = pick(free.map(cardIndex), count, links);
        if (count > free.length) {
          expect(answer).toBeNull();
          continue;
        }
        expect(answer?.indices).toHaveLength(count);
        expect(new Set(answer?.indices).size).toBe(count);
        expect(free).toEqual(expect.arrayContaining([...(answer?.indices ?? [-1])]));
        expect(pick(free.toReversed().map(cardIndex), count, links)).toEqual(answer);
      }
    }
  });

  test('no other set is better by the order of the preferences', () => {
    for (const free of everyFreeSet.filter((cards) => count > 0 && cards.length >= count)) {
      const best = subsets(free, count).toSorted((one, other) => naiveOrder(free, one, other))[0];
      expect(pick(free.map(cardIndex), count, null)?.indices, `of ${free.join(',')}`).toEqual(best);
    }
    expect(everyFreeSet).toHaveLength(256);
  });

  test('the reasons are the preferences that left fewer to choose from, one after the other', () => {
    for (const free of everyFreeSet.filter((cards) => count > 0 && cards.length >= count)) {
      for (const links of [null, twoIslands]) {
        const reasons = pick(free.map(cardIndex), count, links)?.placement.reasons;
        expect(reasons, `of ${free.join(',')}`).toEqual(reasonsOneByOne(free, count, links));
      }
    }
    expect(everyFreeSet).toHaveLength(256);
  });

  test('with two islands no more of them are used than must be', () => {
    for (const free of everyFreeSet.filter((cards) => count > 0 && cards.length >= count)) {
      const left = free.filter((card) => card < 4).length;
      const needed = Math.max(left, free.length - left) >= count ? 1 : 2;
      expect(pick(free.map(cardIndex), count, twoIslands)?.placement.islands).toBe(needed);
    }
    expect(everyFreeSet).toHaveLength(256);
  });
});

/** By a list of all sets that each preference makes shorter. */
function reasonsOneByOne(free: readonly number[], count: number, links: IndexLinks | null): string[] {
  let left = subsets(free, count).map((cards) => cards.map(cardIndex));
  const reasons = left.length === 1 ? ['there is no other choice'] : [];
  for (const { cost, says } of preferences(free.map(cardIndex), count, links)) {
    const costs = left.map(cost);
    const least = Math.min(...costs);
    const best = left.filter((_, at) => costs[at] === least);
    if (best.length < left.length) reasons.push(says(least));
    left = best;
  }
  return left.length > 1 ? [...reasons, 'the lowest indices among equal choices'] : reasons;
}

describe('on a machine with too many sets to compare', () => {
  const all = Array.from({ length: 32 }, (_, index) => cardIndex(index));

  test('16 cards are not too many, 24 are', () => {
    const countOf = (cards: number): [boolean, number] => {
      const candidates = candidatesFor(all.slice(0, cards), 8, null);
      let sets = 0;
      candidates.each(() => (sets += 1));
      return [candidates.complete, sets];
    };
    expect(countOf(16)).toEqual([true, 12_870]);
    expect(countOf(24)).toEqual([false, expect.any(Number)]);
    expect(countOf(24)[1]).toBeLessThan(MOST_SETS);
  });

  test.each([
    ['an aligned block is taken', all.slice(1), 8, [8, 9, 10, 11, 12, 13, 14, 15]],
    ['cards with gaps between them serve as well', all.filter((card) => card % 3 !== 1), 8, [0, 2, 3, 5, 6, 8, 9, 11]],
    ['all but one', all, 31, all.slice(0, 31)],
  ])('%s', (_says, free, count, cards) => expect(pick(free, count, null)?.indices).toEqual(cards));

  test('no request that could be served is refused', () => {
    const free = all.filter((card) => card % 4 !== 2);
    for (let count = 0; count <= free.length; count += 1) expect(pick(free, count, null)?.indices).toHaveLength(count);
    expect(pick(free, free.length + 1, null)).toBeNull();
  });

  describe('and islands that are not neighbours by index', () => {
    const links = new Map(
      all.map((from) => [
        from,
        new Map(
          all.filter((to) => to !== from).map((to) => [to, from % 2 === to % 2 ? ('PIX' as const) : ('SYS' as const)]),
        ),
      ]),
    );

    test('one island is enough', () => {
      const answer = pick(all, 8, links);
      expect(answer?.placement.islands).toBe(1);
      expect(answer?.placement.reasons[0]).toBe('too many ways to choose: only neighbours and islands were compared');
    });

    test('within an island whole blocks are spared too', () => {
      const upperHalfBroken = all.filter((card) => card !== 17 && card !== 25);
      expect(pick(upperHalfBroken, 5, links)?.indices).toEqual([16, 18, 20, 22, 24]);
    });
  });
});
