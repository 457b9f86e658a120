/** What a cell looks like when its column has a value, and what is read from it. */

import { cardUuid, type CardUuid } from '../../model/card.js';
import type { NumberShape, Shape } from '../../model/column.js';
import { COLUMNS, readingOf } from '../../model/columns.js';
import type { Reading } from '../../model/snapshot.js';
import { readText } from './cell.js';

/** No index, count or size of a card has more digits than these; error counters may, and are kept as text. */
const SHAPES: Readonly<Record<Shape, RegExp>> = {
  whole_number: /^\d{1,9}$/,
  mib: /^\d{1,9}(?:\s*MiB)?$/,
  percent: /^\d{1,3}(?:\s*%)?$/,
  celsius: /^-?\d{1,3}$/,
  watts: /^\d{1,6}(?:\.\d{1,6})?(?:\s*W)?$/,
  uuid: /^GPU-[0-9a-z-]+$/i,
  bus_id: /^[0-9a-f]+:[0-9a-f]+:[0-9a-f]+\.[0-9a-f]+$/i,
  version: /^\d+(?:\.\d+)+$/,
  on_off: /^(?:en|dis)abled$/i,
  yes_no: /^(?:yes|no|0|1)$/i,
  active: /^(?:not )?active$/i,
  counter: /^\d+$/,
  compute_mode: /^(?:default|exclusive_process|exclusive_thread|prohibited)$/i,
  any_text: /^/,
};

/** Reads a cell as a number, with or without its unit. Anything else is unreadable. */
export function readNumber(cell: string | undefined, shape: NumberShape): Reading<number> {
  const text = readShaped(cell, shape);
  return text.kind === 'value' ? { kind: 'value', value: Number.parseFloat(text.value) } : text;
}

/** Reads a cell by its column's shape, as a number only where the shape is numeric. Text of another shape is unreadable. */
export function readCell(cell: string | undefined, shape: Shape): Reading<string> | Reading<number> {
  return isNumber(shape) ? readNumber(cell, shape) : readShaped(cell, shape);
}

/** A uuid in the format of any branch; any other text identifies no card. */
export function readUuid(cell: string | undefined): CardUuid | null {
  const text = readShaped(cell, 'uuid');
  return text.kind === 'value' ? cardUuid(text.value) : null;
}

/**
 * True for a row with more commas than columns whose cells do not have their columns' shapes: the comma was not in the name,
 * and every later column has moved. By position, the count of cards would be read as the memory in use. `cells` are split at
 * every comma. A comma in the name moves nothing, since the name is last.
 */
export function isOutOfPlace(cells: readonly string[], fields: readonly string[]): boolean {
  return cells.length > fields.length && fields.some((field, at) => !looksLike(field, cells[at] ?? ''));
}

const NUMBERS: readonly Shape[] = ['whole_number', 'mib', 'percent', 'celsius', 'watts'] satisfies NumberShape[];

function isNumber(shape: Shape): shape is NumberShape {
  return NUMBERS.includes(shape);
}

function readShaped(cell: string | undefined, shape: Shape): Reading<string> {
  const text = readText(cell);
  return text.kind !== 'value' || SHAPES[shape].test(text.value) ? text : { kind: 'unreadable', words: text.value };
}

/** Text in brackets, `N/A` and `ERR!` may be in any column; a field that is not in the table may contain anything. */
function looksLike(field: string, cell: string): boolean {
  const reading = readingOf(field);
  return /^\[.*\]$|^N\/A$|^ERR!$/.test(cell) || reading === null || SHAPES[COLUMNS[reading].shape].test(cell);
}
