/** Which columns this driver is asked for, by what it refused before. */

import { COLUMNS, READINGS, readingOf } from '../../model/columns.js';
import type { Log } from '../../model/ports/outside.js';

/** Which fields to ask a driver for. What it refuses is remembered until its version changes. */
export interface QueryFields {
  /** In the order to ask them; the name is last, since it may hold a comma. */
  list(): readonly string[];
  /** Takes note of a run that exited 2: true when a field was dropped, so that asking again may help. */
  readonly refused: (stdout: string) => boolean;
  /** A good run showed this version: under another than before, every field is tried again. */
  under(driverVersion: string | null): void;
}

/** The fields to ask, each column by its first name; those of health only where it is checked. */
export function createQueryFields(checkHealth: boolean, log: Log): QueryFields {
  const all = READINGS.filter((reading) => checkHealth || COLUMNS[reading].role !== 'health').map(
    (reading) => COLUMNS[reading].names[0].field,
  );
  let asked = all;
  let refusedUnder: string | null = null;
  return {
    list: () => asked,
    refused: (stdout) => {
      const field = refusedField(stdout);
      if (field === null || isNeeded(field) || !asked.includes(field)) return false;
      const other = nextName(field);
      asked = asked.flatMap((each) => (each === field ? (other ?? []) : each));
      log.info(
        { field, instead_asked: other },
        'the driver does not know this field; it is not asked again until the driver changes',
      );
      return true;
    },
    under: (driverVersion) => {
      if (driverVersion === null) return;
      if (refusedUnder !== null && driverVersion !== refusedUnder) asked = all;
      refusedUnder = driverVersion;
    },
  };
}

/** Whether this field feeds a finding of health. */
export function isHealthField(field: string): boolean {
  const reading = readingOf(field);
  return reading !== null && COLUMNS[reading].role === 'health';
}

/** The field that the driver refused, from its own sentence; null where the words are others. */
export function refusedField(stdout: string): string | null {
  return /Field "([^"]+)" is not a valid field to query/.exec(stdout)?.[1] ?? null;
}

/** Without these a row is nobody's. */
function isNeeded(field: string): boolean {
  const reading = readingOf(field);
  return reading !== null && COLUMNS[reading].role === 'needed';
}

/** The same column under the name that other drivers give it; null after the last. */
function nextName(field: string): string | null {
  const reading = readingOf(field);
  if (reading === null) return null;
  const { names } = COLUMNS[reading];
  return names[names.findIndex((name) => name.field === field) + 1]?.field ?? null;
}
