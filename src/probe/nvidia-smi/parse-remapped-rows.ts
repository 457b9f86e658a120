/** Parses the query of the remapped rows, into the terms of the other query. */

import type { CardUuid } from '../../model/card.js';
import { COLUMNS, READINGS, REMAPPED_ROWS } from '../../model/columns.js';
import type { Reading, Readings } from '../../model/snapshot.js';
import { clean, linesOf } from './cell.js';
import { readCell, readUuid } from './column-shapes.js';

/** The readings for which drivers before 590 have a separate query, in query order. */
export const REMAPPED = READINGS.filter((reading) => COLUMNS[reading].ownQuery === REMAPPED_ROWS);

/** Their fields. */
export const REMAPPED_FIELDS = REMAPPED.map((reading) => COLUMNS[reading].names[0].field);

/** What that query says about each card. */
export type RemappedByUuid = ReadonlyMap<CardUuid, Partial<Readings>>;

/**
 * Parses the answer to `gpu_uuid` and these fields, and translates 0 and 1 to the No and Yes of `--query-gpu`. From both
 * ends: a comma in the first column must not hide a failure in the last.
 * a comma in the first column must not hide a failure in the last.
 */
export function parseRemappedRows(text: string): RemappedByUuid {
  const byUuid = new Map<CardUuid, Partial<Readings>>();
  for (const line of linesOf(text)) {
    const [first, ...cells] = line.split(',').map(clean);
    const uuid = readUuid(first);
    if (uuid !== null) byUuid.set(uuid, readingsIn(cells));
  }
  return byUuid;
}

function readingsIn(cells: readonly string[]): Partial<Readings> {
  const surplus = cells.length - REMAPPED.length;
  const cellAt = (at: number): string | undefined =>
    at === 0 && surplus > 0 ? cells.slice(0, surplus + 1).join(', ') : cells[at + surplus];
  return Object.fromEntries(REMAPPED.map((reading, at) => [reading, asInRows(reading, cellAt(at))]));
}

function asInRows(reading: keyof Readings, cell: string | undefined): Reading<string> | Reading<number> {
  return readCell(cell === undefined ? cell : (REMAPPED_ROWS.words[cell] ?? cell), COLUMNS[reading].shape);
}
