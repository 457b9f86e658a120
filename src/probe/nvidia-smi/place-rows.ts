/** Which card a row is about that cannot say so itself. */

import { cardIndex, type CardIndex } from '../../model/card.js';
import type { BrokenCard, GpuRow } from '../../model/snapshot.js';

/**
 * Gives rows that could not tell their own index the place that their neighbours leave open, where there is just enough room
 * for them: the program prints the cards in order of index. `total` is how many cards there are, where that is known; without
 * it, nothing is said of rows after the last that knows its index.
 */
export function placeRows(rows: readonly GpuRow[], total: number | null): readonly GpuRow[] {
  return rows.map((row, at) => (row.index === null ? { ...row, index: placeOf(at, rows, total) } : row));
}

/**
 * The cards complained about that are not among the rows after all. A warning about a card that works is no broken card, and
 * a card whose row is there without its uuid is shown once, as that row.
 */
export function trulyBroken(broken: readonly BrokenCard[], rows: readonly GpuRow[]): readonly BrokenCard[] {
  const busIds = new Set(rows.map((row) => row.pciBusId?.toUpperCase()));
  const nameless = new Set(rows.filter((row) => row.uuid === null).map((row) => row.index));
  const taken = new Set(rows.map((row) => row.index));
  const truly: BrokenCard[] = [];
  for (const card of broken) {
    const isShown = card.pciBusId !== null && busIds.has(card.pciBusId);
    if (isShown || (card.index !== null && nameless.has(card.index))) continue;
    truly.push(taken.has(card.index) ? { ...card, index: null } : card);
  }
  return truly;
}

function placeOf(at: number, rows: readonly GpuRow[], total: number | null): CardIndex | null {
  const before = rows.slice(0, at).findLastIndex((row) => row.index !== null);
  const next = rows.findIndex((row, place) => place > at && row.index !== null);
  const first = (rows[before]?.index ?? -1) + 1;
  const nameless = (next === -1 ? rows.length : next) - before - 1;
  const end = next === -1 ? total : (rows[next]?.index ?? null);
  return end !== null && end - first === nameless ? cardIndex(first + at - before - 1) : null;
}
