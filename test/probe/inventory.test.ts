import { describe, expect, test } from 'vitest';
import { cardIndex, cardUuid } from '../../src/model/card.js';
import type { GpuRow, Probed, GpusSeen, RememberedCard } from '../../src/model/snapshot.js';
import { remember } from '../../src/probe/inventory.js';
import { parseGpuRows } from '../../src/probe/nvidia-smi/parse-gpu-rows.js';

const card = (index: number, uuid: string, bus: string, name: string | null = 'H100'): RememberedCard => ({
  uuid: cardUuid(`GPU-${uuid}`),
  index: cardIndex(index),
  name,
  pciBusId: `00000000:${bus}:00.0`,
});
const seen = (...lines: string[]): Probed<GpusSeen> => {
  const fields = ['index', 'uuid', 'pci.bus_id', 'name'];
  const rows: readonly GpuRow[] = parseGpuRows(lines.join('\n'), fields).rows;
  return { kind: 'seen', value: { rows, broken: [], driverCount: null, driverVersion: null }, tookMs: 1 };
};
const row = (index: number | string, uuid: string, bus: string, name = 'H100'): string =>
  `${index}, ${uuid.startsWith('[') ? uuid : `GPU-${uuid}`}, 00000000:${bus}:00.0, ${name}`;

const TWO = [card(0, 'a', '1B'), card(1, 'b', '4E')];

describe('what is on the books after a look', () => {
  test.each([
    ['a card seen for the first time is added', [], seen(row(0, 'a', '1B')), [card(0, 'a', '1B')]],
    ['a card that is missing stays', TWO, seen(row(0, 'a', '1B')), TWO],
    [
      'a card that moved keeps its uuid and takes its new index',
      TWO,
      seen(row(0, 'b', '4E')),
      [card(0, 'b', '4E'), card(0, 'a', '1B')],
    ],
    [
      'another uuid at the same address replaces the old one',
      TWO,
      seen(row(0, 'a', '1B'), row(1, 'c', '4E')),
      [card(0, 'a', '1B'), card(1, 'c', '4E')],
    ],
    [
      'a card that is done for stays when the addresses behind it move up (it replaces nobody who was known elsewhere)',
      [...TWO, card(2, 'c', '5D')],
      seen(row(0, 'a', '1B'), row(1, 'c', '4E')),
      [card(0, 'a', '1B'), card(1, 'c', '4E'), card(1, 'b', '4E')],
    ],
    [
      'two cards that changed places both stay',
      TWO,
      seen(row(0, 'b', '1B'), row(1, 'a', '4E')),
      [card(0, 'b', '1B'), card(1, 'a', '4E')],
    ],
    ['a blind look changes nothing', TWO, { kind: 'blind', why: 'timeout', detail: '', tookMs: 1 } as const, TWO],
    ['a machine without rows changes nothing', TWO, seen(), TWO],
    ['a row without a uuid changes nothing', TWO, seen(row(1, '[GPU is lost]', '4E')), TWO],
    ['a row that breaks off changes nothing', TWO, seen('1, GPU-c, 00000000:4E:00.0'), TWO],
    [
      'a card that lost its words keeps the name it had',
      TWO,
      seen(row(0, 'a', '1B'), row('[Unknown Error]', 'b', '4E', '[GPU is lost]')),
      TWO,
    ],
    [
      'a card first seen without its name is still on the books',
      [],
      seen(row(0, 'a', '1B', '[Unknown Error]')),
      [card(0, 'a', '1B', null)],
    ],
    ['a card first seen without an index is not', [], seen(row('[Unknown Error]', 'a', '1B')), []],
  ])('%s', (_says, before, gpus, after) => expect(remember(before, gpus)).toEqual(after));
});
