/** Which columns to query from this driver, given the ones that it refused before. */

import { COLUMNS, READINGS, readingOf } from '../../model/columns.js';
import type { Log } from '../../model/ports/outside.js';

/** Which fields to query. A refused field is remembered until the driver's version changes. */
export interface QueryFields {
  /** In query order; the name is last, since it may contain a comma. */
  list(): readonly string[];
  /** Records a run that exited 2: true when a field was dropped, so that a retry may help. */
  readonly refused: (stdout: string) => boolean;
  /** A successful run showed this version: if it differs from the last, every field is tried again. */
  under(driverVersion: string | null): void;
}

/** The fields to query, each column by its first name; health columns only where health is checked. */
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
        'the driver does not know this field; it is not queried again until the driver changes',
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

/** Whether this field feeds a health finding. */
export function isHealthField(field: string): boolean {
  const reading = readingOf(field);
  return reading !== null && COLUMNS[reading].role === 'health';
}

/** The field that the driver refused, from its error message; null where the message is another. */
export function refusedField(stdout: string): string | null {
  return /Field "([^"]+)" is not a valid field to query/.exec(stdout)?.[1] ?? null;
}

/** Without these fields a row cannot be assigned to a card. */
function isNeeded(field: string): boolean {
  const reading = readingOf(field);
  return reading !== null && COLUMNS[reading].role === 'needed';
}

/** The name of the same column on other drivers; null after the last. */
function nextName(field: string): string | null {
  const reading = readingOf(field);
  if (reading === null) return null;
  const { names } = COLUMNS[reading];
  return names[names.findIndex((name) => name.field === field) + 1]?.field ?? null;
}
