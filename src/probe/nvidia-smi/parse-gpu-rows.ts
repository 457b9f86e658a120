import { cardIndex, cardUuid, type CardUuid } from '../../model/card.js';
import { COLUMNS, READINGS } from '../../model/columns.js';
import type { GpuRow, Reading, Readings } from '../../model/snapshot.js';
import { clean, linesOf, readText } from './cell.js';
import { isOutOfPlace, readCell, readNumber } from './column-shapes.js';

/** The rows of one `--query-gpu`, in the order printed, and what every row says about the whole machine. */
export interface ParsedRows {
  readonly rows: readonly GpuRow[];
  readonly driverCount: number | null;
  readonly driverVersion: string | null;
  /** Lines that are no rows and no header. */
  readonly strays: readonly string[];
}

/**
 * Parses the output of `--query-gpu=<fields> --format=csv`, by position: the program heads some columns by another name than
 * the requested one. Accepts a header, blank lines, units and padding; returns lines that are no rows separately. The last
 * field takes the rest of its row.
 */
export function parseGpuRows(text: string, fields: readonly string[]): ParsedRows {
  const rows: GpuRow[] = [];
  const strays: string[] = [];
  const uuids = new Set<CardUuid>();
  for (const line of linesOf(text)) {
    if (!isGpuRow(splitRow(line, fields.length), fields)) {
      if (!isHeader(line, fields)) strays.push(line);
      continue;
    }
    const row = toGpuRow(line, fields);
    if (row.uuid !== null && uuids.has(row.uuid)) continue;
    if (row.uuid !== null) uuids.add(row.uuid);
    rows.push(row);
  }
  return {
    rows,
    driverCount: firstValue(rows.filter(({ short }) => !short).map(({ readings }) => readings.count)),
    driverVersion: firstValue(rows.map(({ readings }) => readings.driverVersion)),
    strays,
  };
}

function splitRow(line: string, columns: number): string[] {
  const cells = line.split(',');
  const rest = cells.splice(columns - 1);
  if (rest.length > 0) cells.push(rest.join(','));
  return cells.map(clean);
}

/**
 * A row starts with an index, with an error word where the card cannot report even that, or has a whole uuid in its place.
 */
function isGpuRow(cells: readonly string[], fields: readonly string[]): boolean {
  const index = cells[fields.indexOf('index')] ?? '';
  if (readNumber(index, 'whole_number').kind === 'value') return true;
  if (wholeUuid(cells[fields.indexOf('uuid')]) !== undefined) return true;
  return readText(index).kind !== 'value' && readText(index).kind !== 'unreadable';
}

function isHeader(line: string, fields: readonly string[]): boolean {
  return clean(line.split(',')[0] ?? '') === fields[0];
}

function toGpuRow(line: string, fields: readonly string[]): GpuRow {
  const whole = splitRow(line, fields.length);
  const outOfPlace = isOutOfPlace(line.split(',').map(clean), fields);
  const short = outOfPlace || whole.length < fields.length;
  const cells = outOfPlace ? onlyWhoItIs(whole, fields) : short ? withoutTheLast(whole, fields) : whole;
  const readings = readAll(cells, fields);
  const index = valueOf(readings.index);
  const uuid = valueOf(readings.uuid);
  return {
    index: index === null ? null : cardIndex(index),
    uuid: uuid === null ? null : cardUuid(uuid),
    name: valueOf(readings.name),
    pciBusId: valueOf(readings.pciBusId),
    driverVersion: valueOf(readings.driverVersion),
    readings,
    short,
  };
}

/** For a row whose columns moved: its index and uuid where both are in their places, else a whole uuid anywhere in it. */
function onlyWhoItIs(cells: readonly string[], fields: readonly string[]): (string | undefined)[] {
  const who = Array.from(fields, (): string | undefined => undefined);
  const [index, uuid] = [fields.indexOf('index'), fields.indexOf('uuid')];
  const inPlace = wholeUuid(cells[uuid]);
  if (inPlace !== undefined) who[index] = cells[index];
  who[uuid] = inPlace ?? cells.find((cell) => wholeUuid(cell) !== undefined);
  return who;
}

/** The last cell of an incomplete row may be cut off; a whole uuid is not. */
function withoutTheLast(cells: readonly string[], fields: readonly string[]): (string | undefined)[] {
  const last = cells.length - 1;
  return cells.map((cell, at) => (at < last ? cell : at === fields.indexOf('uuid') ? wholeUuid(cell) : undefined));
}

/**
 * Each reading from the cell of its column, under whichever name was requested; absent where none was. The table's type
 * guarantees that shape and reading fit.
 */
function readAll(cells: readonly (string | undefined)[], fields: readonly string[]): Readings {
  const cellOf = (reading: keyof Readings): string | undefined =>
    COLUMNS[reading].names.map(({ field }) => cells[fields.indexOf(field)]).find((cell) => cell !== undefined);
  return Object.fromEntries(
    READINGS.map((reading) => [reading, readCell(cellOf(reading), COLUMNS[reading].shape)]),
  ) as unknown as Readings;
}

function wholeUuid(cell: string | undefined): string | undefined {
  return cell !== undefined && /^GPU-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(cell) ? cell : undefined;
}

function valueOf<T>(reading: Reading<T>): T | null {
  return reading.kind === 'value' ? reading.value : null;
}

function firstValue<T>(readings: readonly Reading<T>[]): T | null {
  return readings.map((reading) => valueOf(reading)).find((value) => value !== null) ?? null;
}
