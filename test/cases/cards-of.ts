/** The machines of the cases: cards as reported by others, seen by the real eyes and judged. */

import type { JudgedCard } from '../../src/model/occupancy.js';
import { whoCouldServe } from '../../src/occupancy/feasible.js';
import { pick } from '../../src/pick/pick.js';
import { healthyMachine } from '../../src/stand-in/machine/build-machine.js';
import type { Card, Machine } from '../../src/stand-in/machine/machine.js';
import type { Look } from '../matrix/watched-machine.js';
import { parseMetrics, type MetricsPage } from '../support/metrics-page.js';

/** `uuidOf(0x14)` is `GPU-00000014-0000-4000-8000-000000000014`. */
export function uuidOf(number: number): string {
  const hex = number.toString(16);
  return `GPU-${hex.padStart(8, '0')}-0000-4000-8000-${hex.padStart(12, '0')}`;
}

/** An idle machine with these cards; given values override those of a healthy A100. */
export function machineWith(cards: readonly Partial<Card>[], driver = '590.48.01'): Machine {
  const machine = healthyMachine({ cards: cards.length, driver, model: 'A100' });
  machine.cards.forEach((card, index) => Object.assign(card, cards[index]));
  return machine;
}

/** The states by index, as one line: `free external`. */
export function statesOf({ occupancy }: Look): string {
  return occupancy.cards.map(({ state }) => state).join(' ');
}

export function cardAt({ occupancy }: Look, index: number): JudgedCard {
  const card = occupancy.cards.find((each) => each.index === index);
  if (card === undefined) throw new Error(`no card ${index}: ${occupancy.explain}`);
  return card;
}

/** The metrics page of a look, parsed. */
export function pageOf({ wholePage }: Look): MetricsPage {
  return parseMetrics(wholePage);
}

/** The values of this metric for one card; empty where it has none. */
export function seriesOfCard(look: Look, name: string, index: number): readonly number[] {
  const { uuid } = cardAt(look, index);
  return [...pageOf(look)]
    .filter(([series]) => series.startsWith(`${name}{`) && series.includes(`uuid="${uuid}"`))
    .map(([, value]) => value);
}

/** The result of a request for so many cards: the cards' indices, or why it must wait. */
export function wouldGet({ occupancy }: Look, count: number): readonly number[] | string {
  const able = whoCouldServe(occupancy, count, false);
  if (able.kind === 'not_now') return able.reasons.map(({ code }) => code).join(',');
  if (able.kind === 'never') return 'never';
  const free = able.free.flatMap(({ index }) => index ?? []);
  return pick(free, count, null)?.indices ?? 'nothing';
}
