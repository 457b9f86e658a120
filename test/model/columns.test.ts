import { describe, expect, test } from 'vitest';
import { HEALTH_REASONS, WARNING_REASONS } from '../../src/model/card.js';
import { COLUMNS, READINGS, readingOf } from '../../src/model/columns.js';

// That every reading has a column, every column a reading of its shape, and every health column a finding, is held by the compiler.

const names = READINGS.flatMap((reading) => COLUMNS[reading].names.map(({ field }) => ({ reading, field })));

describe('the table of columns', () => {
  test('has the name last, since it takes what is left of a row', () => {
    expect(READINGS.at(-1)).toBe('name');
  });

  test.each(names)('knows $field as the column of $reading alone', ({ reading, field }) => {
    expect(readingOf(field)).toBe(reading);
    expect(names.filter((each) => each.field === field)).toHaveLength(1);
  });

  test('has a column for every reason but those that no column gives', () => {
    // An error word in any column or a complaint; a card that is not listed; memory against the process list.
    const ofNoColumn = ['driver_error', 'missing', 'xid', 'process_list_blind', 'removal_stuck'];
    const given = new Set(READINGS.map((reading) => COLUMNS[reading].finding?.reason));
    const reasons = [...HEALTH_REASONS, ...WARNING_REASONS];
    expect(reasons.filter((reason) => !given.has(reason))).toEqual(ofNoColumn);
  });

  test('lets no word mean two things', () => {
    const meanings = READINGS.flatMap((reading) => COLUMNS[reading].finding?.means ?? []);
    const words = meanings.flatMap((means) => {
      if (means.kind === 'one_of') return [[...means.bad, ...means.good]];
      return means.kind === 'all_but' ? [[...means.good, ...means.silent]] : [];
    });
    expect(words).not.toEqual([]);
    expect(words.filter((each) => new Set(each).size < each.length)).toEqual([]);
  });
});
