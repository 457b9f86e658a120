import { describe, expect, test } from 'vitest';
import { cardIndex } from '../../src/model/card.js';
import type { BrokenCard, GpusSeen, Probed, RememberedCard } from '../../src/model/snapshot.js';
import { knownCards, sameBusAddress } from '../../src/occupancy/known-cards.js';
import { blind, busOf, gpus, remember, row, rowsUpTo, uuidOf } from './make.js';

/** A short form of every card: index, which card it is, and how it shows itself. */
function shown(look: Probed<GpusSeen>, remembered: readonly RememberedCard[] = [], configuredCount = 0) {
  return knownCards(look, remembered, configuredCount).map(
    ({ index, uuid, evidence }) => `${index ?? '-'} ${uuid === null ? '?' : (uuid[4] ?? '')} ${evidence.kind}`,
  );
}
const complaint = (but: Partial<BrokenCard> = {}): BrokenCard => ({
  index: cardIndex(3),
  pciBusId: busOf(3),
  words: 'GPU is lost.  Reboot the system to recover this GPU',
  denied: false,
  ...but,
});
const without = (gone: number, count = 8) => rowsUpTo(count).filter((each) => each.index !== gone);
const all = (count: number) => Array.from({ length: count }, (_, number) => remember(number));

describe('the cards that are known', () => {
  test.each<[string, string[], string[]]>([
    ['are those the driver shows', shown(gpus(rowsUpTo(2))), ['0 a row', '1 b row']],
    ['stand in order of number, 2 before 10', shown(gpus([row(10), row(2)])), ['2 c row', '10 4 row']],
    [
      'keep their own index where a row before them is gone',
      shown(gpus(without(1, 3), { driverCount: null })),
      ['0 a row', '2 c row'],
    ],
    [
      'include one that the driver complains about, told apart by its bus address',
      shown(
        gpus(without(3, 5), { broken: [complaint({ index: null, pciBusId: '0000:13:00.0' })], driverCount: 5 }),
        all(5),
      ),
      ['0 a row', '1 b row', '2 c row', '3 d broken', '4 e row'],
    ],
    [
      'include a complaint about a card never seen whole, without a uuid',
      shown(gpus(without(3, 5), { broken: [complaint()], driverCount: 5 })),
      ['0 a row', '1 b row', '2 c row', '3 ? broken', '4 e row'],
    ],
    [
      'include one remembered that the driver shows no more, at its index',
      shown(gpus(without(1, 3), { driverCount: 3 }), all(3)),
      ['0 a row', '1 b missing', '2 c row'],
    ],
    [
      'leave a missing card without an index when another card has moved there',
      shown(gpus([row(0), row(2, { index: cardIndex(1) })], { driverCount: 2 }), all(3)),
      ['0 a row', '1 c row', '- b missing'],
    ],
    [
      'miss one whose place on the bus another has now: what was swapped is not remembered any more',
      shown(gpus([row(0), row(2, { index: cardIndex(1), pciBusId: busOf(1) })], { driverCount: 2 }), all(3)),
      ['0 a row', '1 c row', '- b missing'],
    ],
    [
      'are filled up to what the driver counts, at the open place',
      shown(gpus(without(1, 4), { driverCount: 4 })),
      ['0 a row', '1 ? missing', '2 c row', '3 d row'],
    ],
    [
      'are filled up to the configured count',
      shown(gpus(rowsUpTo(2)), [], 4),
      ['0 a row', '1 b row', '2 ? missing', '3 ? missing'],
    ],
    [
      'are not filled up for a missing card that has a name',
      shown(gpus([row(0), row(2, { index: cardIndex(1) })], { driverCount: 2 }), all(3), 3),
      ['0 a row', '1 c row', '- b missing'],
    ],
    [
      'are more than configured where the driver shows more',
      shown(gpus(rowsUpTo(3)), [], 1),
      ['0 a row', '1 b row', '2 c row'],
    ],
    ['are those seen before when the driver is blind', shown(blind(), all(2)), ['0 a unseen', '1 b unseen']],
    [
      'are those seen before and those configured when the driver is blind',
      shown(blind(), [remember(1)], 3),
      ['0 ? unseen', '1 b unseen', '2 ? unseen'],
    ],
    ['are none when the driver is blind from the first day', shown(blind()), []],
    [
      'have each index once, also where two were remembered at the same',
      shown(blind(), [remember(0, 0), remember(1, 0)]),
      ['0 a unseen', '- b unseen'],
    ],
    [
      'give a row that cannot say its uuid the one remembered at its bus address',
      shown(gpus([row(0), row(1, { uuid: null, index: null })]), all(2)),
      ['0 a row', '- b row'],
    ],
    [
      'give a row that can say nothing but its place the one remembered there',
      shown(gpus([row(0), row(1, { uuid: null, pciBusId: null })]), all(2)),
      ['0 a row', '1 b row'],
    ],
    [
      'give a row that names another bus address nobody else’s uuid',
      shown(gpus([row(0), row(1, { uuid: null, pciBusId: busOf(5) })], { driverCount: 2 }), all(2)),
      ['0 a row', '1 ? row', '- b missing'],
    ],
  ])('%s', (_says, cards, expected) => expect(cards).toEqual(expected));

  test('say of a missing card what it was', () => {
    const [missing] = knownCards(gpus([], { driverCount: 0 }), [remember(3)], 0);
    expect(missing).toMatchObject({ uuid: uuidOf(3), name: 'NVIDIA H100 80GB HBM3', pciBusId: busOf(3) });
    expect(missing?.evidence).toEqual({
      kind: 'missing',
      detail: 'the driver does not list it any more; it was card 3 at 00000000:13:00.0',
    });
  });

  test.each<[string, number | null, number, string]>([
    ['the driver counts more than it shows', 2, 0, 'the driver counts 2 cards and shows 1'],
    ['more are configured than it shows', 1, 2, '2 cards are configured and the driver shows 1'],
  ])('say so when %s', (_says, driverCount, configured, detail) => {
    const [, standIn] = knownCards(gpus([row(0)], { driverCount }), [], configured);
    expect(standIn?.evidence).toEqual({ kind: 'missing', detail });
  });
});

test.each([
  ['00000000:4E:00.0', 'GPU0000:4E:00.0', true],
  ['00000000:4E:00.0', 'gpu 0000:4e:00.0', true],
  ['00000000:4E:00.0', '00000000:4F:00.0', false],
  ['00000001:4E:00.0', '0000:4E:00.0', false],
  ['00000010:0E:00.0', '10:0E:00.0', true],
])('bus addresses %s and %s are the same: %s', (one, other, same) => {
  expect(sameBusAddress(one, other)).toBe(same);
});
