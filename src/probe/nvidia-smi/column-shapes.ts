/** What a cell looks like when its column says something, and what is read from it. */

import { cardUuid, type CardUuid } from '../../model/card.js';
import type { NumberShape, Shape } from '../../model/column.js';
import { COLUMNS, readingOf } from '../../model/columns.js';
import type { Reading } from '../../model/snapshot.js';
import { readText } from './cell.js';

/** A number of more digits than these is none that a card can have; counters of errors are, and are kept as text. */
const SHAPES: Readonly<Record<Shape, RegExp>> = {
  whole_number: /^\d{1,9}$/,
  mib: /^\d{1,9}(?:\s*MiB)?$/,
  uuid: /^GPU-[0-9a-z-]+$/i,
  bus_id: /^[0-9a-f]+:[0-9a-f]+:[0-9a-f]+\.[0-9a-f]+$/i,
  version: /^\d+(?:\.\d+)+$/,
  on_off: /^(?:en|dis)abled$/i,
  yes_no: /^(?:yes|no|0|1)$/i,
  active: /^(?:not )?active$/i,
  counter: /^\d+$/,
  any_text: /^/,
};

/** Reads a cell as a number, its unit printed or not. Text that is none is unreadable. */
export function readNumber(cell: string | undefined, shape: NumberShape): Reading<number> {
  const text = readShaped(cell, shape);
  return text.kind === 'value' ? { kind: 'value', value: Number.parseInt(text.value, 10) } : text;
}

/** Reads a cell as its column has it; a number only where the shape is one. Text that does not look like it is unreadable. */
export function readCell(cell: string | undefined, shape: Shape): Reading<string> | Reading<number> {
  return shape === 'whole_number' || shape === 'mib' ? readNumber(cell, shape) : readShaped(cell, shape);
}

/** A uuid as any branch prints one; any other text is no card's identity. */
export function readUuid(cell: string | undefined): CardUuid | null {
  const text = readShaped(cell, 'uuid');
  return text.kind === 'value' ? cardUuid(text.value) : null;
}

/**
 * True for a row with more commas than columns whose cells do not look like their columns: the comma was not in the name, and
 * every column after it has moved. Read by position, the count of cards would be the memory in use. `cells` as split at every
 * comma. A name with commas alone moves nothing, being last.
 */
export function isOutOfPlace(cells: readonly string[], fields: readonly string[]): boolean {
  return cells.length > fields.length && fields.some((field, at) => !looksLike(field, cells[at] ?? ''));
}

function readShaped(cell: string | undefined, shape: Shape): Reading<string> {
  const text = readText(cell);
  return text.kind !== 'value' || SHAPES[shape].test(text.value) ? text : { kind: 'unreadable', words: text.value };
}

/** Words in brackets, `N/A` and `ERR!` stand in any column; a field that the table does not have may say anything. */
function looksLike(field: string, cell: string): boolean {
  const reading = readingOf(field);
  return /^\[.*\]$|^N\/A$|^ERR!$/.test(cell) || reading === null || SHAPES[COLUMNS[reading].shape].test(cell);
}
