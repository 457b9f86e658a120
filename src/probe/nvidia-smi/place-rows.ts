/** The index of rows that do not contain a readable one. */

import { cardIndex, type CardIndex } from '../../model/card.js';
import type { BrokenCard, GpuRow } from '../../model/snapshot.js';

/**
 * Gives rows without an index the position that their neighbours leave open, where there is exactly enough room for them:
 * the program prints the cards in order of index. `total` is the number of cards, where known; without it, rows after the
 * last known index get none.
 */
export function placeRows(rows: readonly GpuRow[], total: number | null): readonly GpuRow[] {
  const once = eachIndexOnce(rows);
  return once.map((row, at) => (row.index === null ? { ...row, index: placeOf(at, once, total) } : row));
}

/**
 * No two cards may share an index. The uuid identifies a card: a row whose index another card has keeps its uuid and loses
 * the index.
 */
function eachIndexOnce(rows: readonly GpuRow[]): readonly GpuRow[] {
  const taken = new Set<CardIndex>();
  return rows.map((row) => {
    if (row.index === null || !taken.has(row.index)) {
      if (row.index !== null) taken.add(row.index);
      return row;
    }
    return { ...row, index: null };
  });
}

/** Sentences about indices that occur in several rows. */
export function indexRemarks(rows: readonly GpuRow[]): readonly string[] {
  const indices = rows.flatMap(({ index }) => (index === null ? [] : [index]));
  const twice = new Set(indices.filter((index, at) => indices.indexOf(index) !== at));
  return Array.from(
    twice,
    (index) => `nvidia-smi gives the index ${index} to more than one card; uuids tell them apart`,
  );
}

/**
 * The broken cards that are not among the rows after all. A warning about a working card does not make it broken, and a card
 * whose row lacks a uuid is shown once, as that row.
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
