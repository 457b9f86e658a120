import { describe, expect, test } from 'vitest';
import { cardIndex, cardUuid } from '../../src/model/card.js';
import type { LinkKind, Links } from '../../src/model/snapshot.js';
import { linksByIndex, splittingLevels } from '../../src/pick/islands.js';
import { bridges, matrix, nvswitch, twoIslands } from './links.js';

const uuid = (letter: string) => cardUuid(`GPU-${letter}`);
const card = (index: number | null, letter: string | null) => ({
  index: index === null ? null : cardIndex(index),
  uuid: letter === null ? null : uuid(letter),
});
const links = (...pairs: [string, string, LinkKind][]): Links =>
  new Map(
    ['a', 'b', 'c'].map((from) => [
      uuid(from),
      new Map(pairs.filter(([one]) => one === from).map(([, other, kind]) => [uuid(other), kind])),
    ]),
  );
const between = (of: Links, cards: ReturnType<typeof card>[]) =>
  [...linksByIndex(of, cards)].flatMap(([from, row]) => [...row].map(([to, kind]) => `${from}-${to} ${kind}`));

describe('the matrix by index', () => {
  test.each<[string, string[], string[]]>([
    [
      'follows the cards to where they stand today',
      between(links(['a', 'b', 'NV'], ['b', 'a', 'NV']), [card(5, 'a'), card(2, 'b')]),
      ['5-2 NV', '2-5 NV'],
    ],
    [
      'takes the slower link where the directions disagree',
      between(links(['a', 'b', 'NV'], ['b', 'a', 'SYS']), [card(0, 'a'), card(1, 'b')]),
      ['0-1 SYS', '1-0 SYS'],
    ],
    [
      'takes one direction for both where only one is known',
      between(links(['a', 'b', 'PIX']), [card(0, 'a'), card(1, 'b')]),
      ['0-1 PIX', '1-0 PIX'],
    ],
    [
      'leaves out cards without an index or a uuid',
      between(links(['a', 'b', 'NV'], ['a', 'c', 'NV']), [card(0, 'a'), card(null, 'b'), card(2, null), card(3, 'c')]),
      ['0-3 NV', '3-0 NV'],
    ],
  ])('%s', (_says, found, expected) => expect(found).toEqual(expected));
});

describe('the levels that split a machine', () => {
  test.each([
    ['are those at which some cards are together and not all', twoIslands, ['PIX 2', 'PXB 2', 'PHB 2', 'NODE 2']],
    ['begin with the bridges where there are some', bridges, ['NV 4', 'PIX 4', 'PXB 2', 'PHB 2', 'NODE 2']],
    ['are none where all cards reach each other alike', nvswitch, []],
    ['are none where nothing is known', matrix(4, () => undefined), []],
    ['go by reach: a chain of links is one island', matrix(3, (a, b) => (b - a === 1 ? 'PIX' : 'SYS')), []],
  ])('%s', (_says, machine, levels) => {
    expect(splittingLevels(machine).map(({ kind, islands }) => `${kind} ${islands}`)).toEqual(levels);
  });
});
