import { describe, expect, test } from 'vitest';
import { COLUMNS, READINGS } from '../../../src/model/columns.js';
import { createQueryFields, refusedField, type QueryFields } from '../../../src/probe/nvidia-smi/query-fields.js';
import { recordingLog } from './program.js';

const fieldsFor = (checkHealth: boolean): QueryFields => createQueryFields(checkHealth, recordingLog());
const refusal = (field: string): string => `Field "${field}" is not a valid field to query.\n\n`;
const columns = READINGS.map((reading) => ({ reading, ...COLUMNS[reading] }));
const ofRole = (...roles: readonly string[]) => columns.filter(({ role }) => roles.includes(role));

test('every column is asked for by its first name, in the order of the table, and the name last', () => {
  const asked = fieldsFor(true).list();
  expect(asked).toEqual(columns.map(({ names }) => names[0].field));
  expect(asked.at(-1)).toBe('name');
});

test('without the check of health no column of health is asked for, and every other is', () => {
  expect(fieldsFor(false).list()).toEqual(ofRole('needed', 'deciding', 'shown').map(({ names }) => names[0].field));
});

describe('a name that the driver refuses', () => {
  test.each(ofRole('deciding', 'shown', 'health'))('of $reading gives way to the next, then to none', ({ names }) => {
    const fields = fieldsFor(true);
    const place = fields.list().indexOf(names[0].field);
    for (const [nth, { field }] of names.entries()) {
      expect(fields.list()[place]).toBe(field);
      expect(fields.refused(refusal(field))).toBe(true);
      const next = names[nth + 1]?.field;
      expect(fields.list()).toHaveLength(next === undefined ? columns.length - 1 : columns.length);
    }
    expect(fields.list().filter((field) => names.some((name) => name.field === field))).toEqual([]);
    fields.under('1.0');
    fields.under('2.0');
    expect(fields.list()[place]).toBe(names[0].field);
  });

  test.each(ofRole('needed'))('of $reading cannot be done without', ({ names: [{ field }] }) => {
    const fields = fieldsFor(true);
    expect(fields.refused(refusal(field))).toBe(false);
    expect(fields.list()).toContain(field);
  });

  test('that was not asked for changes nothing', () => {
    const fields = fieldsFor(true);
    expect(fields.refused(refusal('fan.speed'))).toBe(false);
    expect(fields.refused('Invalid combination of input arguments.')).toBe(false);
    expect(fields.list()).toHaveLength(columns.length);
  });
});

test('the field that the driver refuses is the one it names', () => {
  expect(refusedField(refusal('remapped_rows.pending'))).toBe('remapped_rows.pending');
  expect(refusedField('Invalid combination of input arguments.')).toBeNull();
});
