/** Which columns exist, for a driver branch and a kind of query. */

import type { Dialect } from '../machine/dialect.js';
import type { QueryKind } from '../machine/words.js';
import { type Field, fixed, reading } from './field.js';
import { HEALTH_FIELDS, remapped } from './health-fields.js';
import { IDENTITY_FIELDS } from './identity-fields.js';
import { LOAD_FIELDS } from './load-fields.js';
import { timestampOf } from './timestamp.js';

/** The columns that a branch knows for a kind of query. */
export function fieldsOf(kind: QueryKind, { branch }: Dialect): readonly Field[] {
  const all =
    kind === 'gpu'
      ? [...IDENTITY_FIELDS, ...LOAD_FIELDS, ...HEALTH_FIELDS]
      : [...CARD_FIELDS, ...(kind === 'apps' ? APP_FIELDS : REMAPPED_FIELDS)];
  return all.filter((field) => field.from <= branch && branch <= field.until);
}

/** The queried columns, or the first name that the branch does not know: one is enough to fail the query. */
export function chosenFields(kind: QueryKind, names: readonly string[], dialect: Dialect): readonly Field[] | string {
  const known = new Map(fieldsOf(kind, dialect).flatMap((field) => field.names.map((name) => [name, field])));
  const stranger = names.find((name) => !known.has(name));
  return stranger ?? names.flatMap((name) => known.get(name) ?? []);
}

/** A column's heading: its first name, whichever was queried, and its unit. */
export function heading({ names, unit }: Field): string {
  return unit === null ? names[0] : `${names[0]} [${unit}]`;
}

/** The columns that identify the card in the process list and the remapped rows. */
const CARD_FIELDS: readonly Field[] = [
  fixed('timestamp', ({ now }) => timestampOf(now), { about: 'machine' }),
  fixed('gpu_name', ({ card }) => card.name),
  fixed('gpu_bus_id', ({ card }) => card.bus_id),
  fixed('gpu_serial', ({ card }) => card.serial),
  fixed('gpu_uuid', ({ card }) => card.uuid),
];

/** The process itself is passed in `Seen.process`. */
const APP_FIELDS: readonly Field[] = [
  reading('pid', ({ process }) => (process === null ? null : String(process.pid))),
  reading('process_name or name', ({ process }) => (process === null ? null : process.name.replaceAll(',', '?'))),
  reading('used_gpu_memory or used_memory', ({ process }) => process?.memory_mib ?? null, { unit: 'MiB' }),
];

/** Here booleans are 0 and 1; the same columns of `--query-gpu` print `Yes` and `No`. */
const REMAPPED_FIELDS: readonly Field[] = [
  reading('remapped_rows.correctable', (seen) => remapped(seen)?.correctable ?? null),
  reading('remapped_rows.uncorrectable', (seen) => remapped(seen)?.uncorrectable ?? null),
  reading('remapped_rows.pending', (seen) => oneOrZero(remapped(seen)?.pending)),
  reading('remapped_rows.failure', (seen) => oneOrZero(remapped(seen)?.failure)),
];

function oneOrZero(truth: boolean | undefined): number | null {
  return truth === undefined ? null : Number(truth);
}
