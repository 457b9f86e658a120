/** The table of columns for one driver branch. */

import type { Column, FieldName, Meaning } from '../../src/model/column.js';
import { COLUMNS, READINGS } from '../../src/model/columns.js';
import type { HealthReadings, Readings } from '../../src/model/snapshot.js';

/** The surveyed branches; of those from 590 on only the help texts are known. */
export const BRANCHES = [418, 450, 460, 470, 530, 535, 550, 555, 565, 590, 595, 610] as const;

/** Whether a branch accepts this name of a column. */
export function takes(branch: number, { from = 0, until = Infinity, except }: FieldName): boolean {
  return from <= branch && branch <= until && branch !== except;
}

/** The first name by which a branch prints a column in `--query-gpu`; null where it has none. */
export function fieldOn(branch: number, { names }: Column): string | null {
  return names.find((name) => takes(branch, name))?.field ?? null;
}

/** The readings that a branch supports, by `--query-gpu` or a separate query, each with the field to query. */
export function readingsOn(branch: number): readonly { readonly reading: keyof Readings; readonly field: string }[] {
  return READINGS.flatMap((reading) => {
    const { names, ownQuery }: Column = COLUMNS[reading];
    const field = fieldOn(branch, COLUMNS[reading]) ?? (ownQuery && ownQuery.from <= branch ? names[0].field : null);
    return field === null ? [] : [{ reading, field }];
  });
}

/** The health columns of a healthy card that supports all of them. */
export function wellHealth(): HealthReadings {
  const said = READINGS.flatMap((reading) => {
    const { role, finding } = COLUMNS[reading];
    if (role !== 'health' || finding === undefined) return [];
    return [[reading, { kind: 'value', value: goodWord(finding.means) }] as const];
  });
  return Object.fromEntries(said) as unknown as HealthReadings;
}

function goodWord(means: Meaning): string | undefined {
  return means.kind === 'above' ? String(means.limit) : means.good[0];
}
