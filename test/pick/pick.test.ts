import { describe, expect, test } from 'vitest';
import { cardIndex } from '../../src/model/card.js';
import type { IndexLinks } from '../../src/pick/islands.js';
import { pick } from '../../src/pick/pick.js';
import { bridges, interleaved, matrix, nvswitch, twoIslands } from './links.js';

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);
const picked = (free: readonly number[], count: number, links: IndexLinks | null = null) =>
  pick(free.map(cardIndex), count, links);

describe('without a topology', () => {
  test.each<[string, number[], number, number[]]>([
    ['an aligned pair wins over a straddling one', [1, 2, 3], 2, [2, 3]],
    ['consecutive beats lower', [0, 3, 4], 2, [3, 4]],
    ['in order when nothing is consecutive', [0, 2, 5], 2, [0, 2]],
    ['cards of one block of 4 are closer than cards of two', [0, 5, 7], 2, [5, 7]],
    ['cards of fewer pairs are closer', [0, 2, 3, 5, 7], 3, [0, 2, 3]],
    ['a single card comes from a broken pair', [0, 1, 3], 1, [3]],
    ['a single card comes from a broken block of 4', [0, 1, 2, 3, 4, 5], 1, [4]],
    ['a pair comes from a broken block of 4', [0, 1, 2, 3, 6, 7], 2, [6, 7]],
    ['a block of 4 comes from a broken block of 8', [...upTo(8), 12, 13, 14, 15], 4, [12, 13, 14, 15]],
    ['four cards stay in one block', [1, 2, 3, 4, 5, 6, 7], 4, [4, 5, 6, 7]],
    ['eight of sixteen start at a multiple of eight', [...upTo(16)].slice(1), 8, [8, 9, 10, 11, 12, 13, 14, 15]],
    ['the lowest of what is equal', upTo(8), 2, [0, 1]],
    ['numbers are numbers: 2 comes before 10', [10, 2], 1, [2]],
    ['a card named twice is one card', [3, 3, 1], 2, [1, 3]],
    ['all there are', [6, 0, 3], 3, [0, 3, 6]],
  ])('%s', (_says, free, count, cards) => expect(picked(free, count)?.indices).toEqual(cards));

  test('a job of no card gets none', () => {
    expect(picked([], 0)?.indices).toEqual([]);
    expect(picked([1, 2], 0)?.indices).toEqual([]);
  });

  test('too few free cards is null, never fewer cards', () => {
    expect(picked([0, 1], 3)).toBeNull();
    expect(picked([], 1)).toBeNull();
    expect(picked([1, 1], 2)).toBeNull();
  });

  test.each([-1, 1.5, Number.NaN])('a count of %s is our own bug', (count) => {
    expect(() => picked([0], count)).toThrow(`expected a whole number of cards, got ${count}`);
  });
});

describe('with a topology', () => {
  test.each<[string, IndexLinks, number[], number, number[]]>([
    ['cards of one island win over consecutive ones', twoIslands, [0, 3, 4], 2, [0, 3]],
    ['four of one island win over four in a row', twoIslands, [1, 2, 3, 4, 5, 6, 7], 4, [4, 5, 6, 7]],
    ['islands need not be neighbours by index', interleaved, upTo(8), 4, [0, 2, 4, 6]],
    ['the fastest link counts first', bridges, [0, 2, 4, 5], 2, [4, 5]],
    ['the next link counts where the fastest says nothing', bridges, [1, 2, 5], 2, [1, 2]],
    ['fewest islands at every level', bridges, [0, 2, 3, 4, 5, 7], 3, [0, 2, 3]],
    ['a machine of one island is picked by index', nvswitch, [0, 3, 4], 2, [3, 4]],
    ['consecutive still counts inside an island', twoIslands, [0, 2, 3], 2, [2, 3]],
    ['blocks that are whole are spared in an island too', nvswitch, [0, 1, 2, 3, 4, 5], 1, [4]],
    ['a card that the matrix does not know is an island of its own', twoIslands, [8, 9, 0, 3], 2, [0, 3]],
  ])('%s', (_says, links, free, count, cards) => expect(picked(free, count, links)?.indices).toEqual(cards));
});

describe('cards on which starts failed lately', () => {
  const failed = (counts: Readonly<Record<number, number>>) =>
    new Map(Object.entries(counts).map(([index, count]) => [cardIndex(Number(index)), count]));

  test.each<[string, number[], number, IndexLinks | null, Readonly<Record<number, number>>, number[]]>([
    ['come last', upTo(4), 1, null, { 0: 1 }, [1]],
    ['come last whatever the wires say', upTo(8), 4, twoIslands, { 0: 1 }, [4, 5, 6, 7]],
    ['come after cards of two islands', [0, 1, 4], 2, twoIslands, { 0: 1 }, [1, 4]],
    ['are the last resort and not taken out', [0, 1], 2, null, { 0: 3 }, [0, 1]],
    ['as few of them as must be', [0, 1, 2], 2, null, { 0: 1, 1: 2 }, [0, 2]],
    ['the one with fewer failures where all have some', upTo(3), 1, null, { 0: 2, 1: 1, 2: 2 }, [1]],
    ['count for nothing at 0', upTo(4), 2, null, { 0: 0, 1: 0 }, [0, 1]],
    [
      'come last on a machine with too many sets to compare',
      upTo(32),
      8,
      null,
      { 0: 1 },
      [8, 9, 10, 11, 12, 13, 14, 15],
    ],
    ['are as few as must be there too', upTo(32), 31, null, { 0: 1, 5: 2 }, upTo(32).filter((card) => card !== 5)],
  ])('%s', (_says, free, count, links, counts, cards) => {
    expect(pick(free.map(cardIndex), count, links, failed(counts))?.indices).toEqual(cards);
  });

  test('the answer says that they decided', () => {
    const reasons = (counts: Readonly<Record<number, number>>) =>
      pick([0, 1].map(cardIndex), 1, null, failed(counts))?.placement.reasons;
    expect(reasons({ 0: 1 })).toContain('no start failed on them within the last hour');
    expect(reasons({ 0: 2, 1: 1 })).toContain('the fewest starts that failed on them within the last hour: 1');
  });
});

describe('what a pick says of itself', () => {
  test.each<[string, number[], number, IndexLinks | null, object]>([
    ['no topology', [0, 1, 2], 2, null, { islands: null, slowest_link: null, consecutive: true, aligned: true }],
    [
      'two of one island',
      upTo(8),
      2,
      twoIslands,
      { islands: 1, slowest_link: 'PIX', consecutive: true, aligned: true },
    ],
    [
      'five of two islands',
      upTo(8),
      5,
      twoIslands,
      { islands: 2, slowest_link: 'SYS', consecutive: true, aligned: true },
    ],
    ['one card', [3], 1, twoIslands, { islands: 1, slowest_link: null, consecutive: true, aligned: true }],
    ['gaps', [1, 3, 6], 3, null, { consecutive: false, aligned: false }],
    ['a machine that is one island', upTo(8), 8, nvswitch, { islands: 1, slowest_link: 'NV' }],
    ['bridges', upTo(8), 4, bridges, { islands: 2, slowest_link: 'PXB' }],
    ['a link that is not known', [0, 1], 2, matrix(2, () => undefined), { slowest_link: null }],
    ['no card', [0], 0, twoIslands, { islands: 0, slowest_link: null, consecutive: true, aligned: true }],
  ])('%s', (_says, free, count, links, placement) => {
    expect(picked(free, count, links)?.placement).toMatchObject(placement);
  });

  test.each<[number[], number, IndexLinks | null, string[]]>([
    [[0], 0, null, ['no card was asked for']],
    [[0, 5], 2, null, ['there is no other choice']],
    [[1, 2, 3], 2, null, ['2 consecutive cards', 'they touch 1 aligned block of 2, not more']],
    [[0, 1, 3], 1, null, ['every free block of 2 stays whole']],
    [upTo(8), 5, null, ['5 consecutive cards', 'the first index is a multiple of 4']],
    [upTo(4), 1, null, ['the lowest indices among equal choices']],
    [[0, 3, 4], 2, twoIslands, ['all of them are joined by PIX or better']],
    [[0, 1, 2, 4], 4, twoIslands, ['there is no other choice']],
    [[0, 1, 2, 4, 5], 4, bridges, ['they span 2 islands of NV, not more']],
  ])('of cards %j, %i are picked for its reasons', (free, count, links, reasons) => {
    expect(picked(free, count, links)?.placement.reasons).toEqual(reasons);
  });
});
