import { describe, expect, test } from 'vitest';
import { COLUMNS, READINGS } from '../../src/model/columns.js';
import type { Reading, Readings } from '../../src/model/snapshot.js';
import { judge } from '../../src/occupancy/judge.js';
import { denied, gpus, lost, row, rules, snapshot, unreadable } from './make.js';

// The table walked whole: what a word in any of its columns does to a card on which all else is well.

const columns = READINGS.map((reading) => ({ reading, ...COLUMNS[reading] }));
const ofRole = (...roles: readonly string[]) => columns.filter(({ role }) => roles.includes(role));
const error = (words: string): Reading<never> => ({ kind: 'error', words });

function judged(reading: keyof Readings, says: Reading<never>, checkHealth = true) {
  // Where the driver does not say who it is, nothing is left of it in the row.
  const who = reading === 'uuid' || reading === 'index' ? { [reading]: null } : {};
  const look = snapshot({ gpus: gpus([row(0, { ...who, readings: { [reading]: says } })]) });
  const [card] = judge(look, rules({ checkHealth })).cards;
  if (card === undefined) throw new Error('expected one card');
  return card;
}

describe('words that say that the card is lost make it unhealthy, with these words', () => {
  test.each(columns)('for its $label', ({ reading, label }) => {
    for (const words of ['[GPU is lost]', '[GPU requires reset]', '[Insufficient External Power]']) {
      const card = judged(reading, error(words));
      expect(card.state).toBe('unhealthy');
      expect(card.unhealthy).toEqual([{ reason: 'driver_error', detail: `the driver answers ${words} for ${label}` }]);
    }
  });
});

describe('other error words', () => {
  const words = ['[Unknown Error]', '[Timeout]', '[Words of next year]', 'ERR!'];
  test.each(ofRole('needed', 'deciding', 'health'))('make a card unhealthy for its $label', ({ reading, label }) => {
    for (const each of words) {
      const details = judged(reading, error(each)).unhealthy.map(({ detail }) => detail);
      expect(details).toEqual([`the driver answers ${each} for ${label}`]);
    }
  });

  test.each(ofRole('shown'))('cost only the $label, which is shown and decides nothing', ({ reading }) => {
    for (const each of words) {
      expect(judged(reading, error(each))).toMatchObject({ state: 'free', unhealthy: [] });
    }
  });
});

test.each(ofRole('health'))('no word for the $label takes a card out while health is not checked', ({ reading }) => {
  expect(judged(reading, lost, false)).toMatchObject({ state: 'free', unhealthy: [] });
});

describe('permission words and text that is no value', () => {
  test.each(ofRole('health', 'shown'))('for the $label say nothing of the card', ({ reading }) => {
    for (const says of [denied, unreadable]) {
      expect(judged(reading, says)).toMatchObject({ state: 'free', unhealthy: [], health: { driver_error: false } });
    }
  });

  test.each(ofRole('needed', 'deciding'))('for the $label: without permission the card is unknown', ({ reading }) => {
    expect(judged(reading, denied)).toMatchObject({ state: 'unknown', unknownBecause: 'permission', unhealthy: [] });
  });
});
