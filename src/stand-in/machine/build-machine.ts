/** Builds machines without faults, and puts load on them. */

import { healthyCard } from './card-models.js';
import type { Card, CardProcess, Machine } from './machine.js';
import type { CardModel } from './words.js';

/** What to build; everything is optional. */
export interface MachineWish {
  /** How many cards; 8. */
  cards?: number;
  /** Version of the driver; default `590.48.01`. */
  driver?: string;
  /** Model of all cards; default `H100`. */
  model?: CardModel;
  /** The number of equal groups that NVLink joins; default 1. Cards of different groups are `SYS` apart. */
  islands?: number;
}

/** A machine without faults or load, for the caller to change. */
export function healthyMachine({
  cards = 8,
  driver = '590.48.01',
  model = 'H100',
  islands = 1,
}: MachineWish = {}): Machine {
  return {
    driver,
    cuda: cudaOf(driver),
    cards: Array.from({ length: cards }, (_, index) => healthyCard(model, index)),
    fault: null,
    delay_ms: 0,
    hang: null,
    process_list: 'visible',
    topology: islandsOf(cards, islands),
    raw: {},
  };
}

/** The default machine: eight idle H100 in two islands, on a current driver. */
export function defaultMachine(): Machine {
  return healthyMachine({ islands: 2 });
}

/** The card at a position in the machine's list; throws when there is none, since that is a mistake of the caller. */
export function cardAt(machine: Machine, index: number): Card {
  const card = machine.cards[index];
  if (card === undefined) throw new RangeError(`The machine has ${machine.cards.length} cards and no card ${index}`);
  return card;
}

/** Takes a card off the bus for good; the cards behind it move up, each to the address of the one before it. */
export function dropCard(machine: Machine, index: number): void {
  cardAt(machine, index);
  const addresses = machine.cards.map((card) => card.bus_id);
  machine.cards.splice(index, 1);
  for (const [at, card] of machine.cards.entries()) card.bus_id = addresses[at] ?? card.bus_id;
  machine.topology = null;
}

/** Puts load on a card: memory in MiB (replaced), and the processes that hold it (added; none: hidden from the list). */
export function putLoad(card: Card, mib: number, ...processes: CardProcess[]): void {
  card.memory_used_mib = mib;
  card.processes.push(...processes);
}

function islandsOf(cards: number, islands: number): string[][] {
  const size = Math.ceil(cards / islands);
  const indices = Array.from({ length: cards }, (_, index) => index);
  return indices.map((row) =>
    indices.map((column) => {
      if (row === column) return 'X';
      return Math.floor(row / size) === Math.floor(column / size) ? 'NV18' : 'SYS';
    }),
  );
}

/** Captured for 550, 590 and 595; for the other branches it is the version that they commonly ship with, not captured. */
function cudaOf(driver: string): string {
  const branch = Number.parseInt(driver, 10);
  const known: readonly (readonly [from: number, cuda: string])[] = [
    [610, '13.3'],
    [595, '13.2'],
    [590, '13.1'],
    [580, '13.0'],
    [575, '12.9'],
    [570, '12.8'],
    [565, '12.7'],
    [560, '12.6'],
    [555, '12.5'],
    [550, '12.4'],
    [545, '12.3'],
    [535, '12.2'],
    [470, '11.4'],
  ];
  return known.find(([from]) => branch >= from)?.[1] ?? '11.0';
}
