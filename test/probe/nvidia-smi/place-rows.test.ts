import { describe, expect, test } from 'vitest';
import { cardIndex } from '../../../src/model/card.js';
import type { BrokenCard } from '../../../src/model/snapshot.js';
import { parseGpuRows } from '../../../src/probe/nvidia-smi/parse-gpu-rows.js';
import { placeRows, trulyBroken } from '../../../src/probe/nvidia-smi/place-rows.js';

const FIELDS = ['index', 'uuid', 'pci.bus_id', 'name'];
const LOST = '[GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost]';
const rowsOf = (...cards: (number | 'lost')[]): ReturnType<typeof parseGpuRows>['rows'] =>
  parseGpuRows(
    // The uuid is that of the place: an index may be said twice, a uuid is not.
    cards.map((at, place) => (at === 'lost' ? LOST : `${at}, GPU-${at}${place}, 00000000:0${at}:00.0, x`)).join('\n'),
    FIELDS,
  ).rows;

describe('a row that cannot tell its index takes the place left open', () => {
  test.each([
    ['between two', rowsOf(0, 'lost', 2), 3, [0, 1, 2]],
    ['at the start', rowsOf('lost', 1), 2, [0, 1]],
    ['at the end, where the count is known', rowsOf(0, 'lost'), 2, [0, 1]],
    ['at the end, not where it is unknown', rowsOf(0, 'lost'), null, [0, null]],
    ['two beside each other', rowsOf(0, 'lost', 'lost', 3), 4, [0, 1, 2, 3]],
    ['two apart', rowsOf('lost', 1, 'lost', 3), 4, [0, 1, 2, 3]],
    ['not where more than it is missing', rowsOf(0, 'lost', 3), 4, [0, null, 3]],
    ['one that says the index of another is placed as if it said none', rowsOf(0, 1, 2, 2, 4), 5, [0, 1, 2, 3, 4]],
    ['all that say the same', rowsOf(0, 0, 0), 3, [0, 1, 2]],
    ['not where nobody knows how many there are', rowsOf(0, 1, 1), null, [0, 1, null]],
    ['alone on a machine of one', rowsOf('lost'), 1, [0]],
    ['not alone on a machine of two', rowsOf('lost'), 2, [null]],
  ])('%s', (_says, rows, total, indices) => expect(placeRows(rows, total).map(({ index }) => index)).toEqual(indices));
});

describe('a complaint', () => {
  const complaint = (index: number | null, bus: number | null): BrokenCard => ({
    index: index === null ? null : cardIndex(index),
    pciBusId: bus === null ? null : `00000000:0${bus}:00.0`,
    words: 'GPU is lost',
    denied: false,
  });
  test.each([
    ['about a card without a row is a broken card', rowsOf(0, 2), complaint(1, 1), [complaint(1, 1)]],
    ['about a card that has a row is a warning', rowsOf(0, 1, 2), complaint(null, 1), []],
    ['about a card whose row has no uuid is that row', placeRows(rowsOf(0, 'lost', 2), 3), complaint(1, 1), []],
    ['does not take the index of a card that answers', rowsOf(0, 1), complaint(1, 5), [complaint(null, 5)]],
    ['without an address still counts', rowsOf(0, 2), complaint(1, null), [complaint(1, null)]],
  ])('%s', (_says, rows, card, broken) => expect(trulyBroken([card], rows)).toEqual(broken));
});
