import { expect, test } from 'vitest';
import { counted, lasting, memoryWords } from '../../src/page/client/words.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

test.each([
  ['a clock that runs behind gives no time below zero', -5000, '0 s'],
  ['a moment', 400, '0 s'],
  ['what nobody knows', Number.NaN, 'some time'],
  ['seconds', 59_900, '59 s'],
  ['a minute', MINUTE, '1 min'],
  ['just under an hour', HOUR - 1, '59 min'],
  ['a whole hour has no minutes', HOUR, '1 h'],
  ['hours and minutes', 2 * HOUR + 14 * MINUTE, '2 h 14 min'],
  ['days and hours', 76 * HOUR, '3 d 4 h'],
])('%s', (_says, milliseconds, words) => expect(lasting(milliseconds)).toBe(words));

test.each([
  ['both were read', 13_207_024_435, 85_520_809_984, '12.3 of 79.6 GiB in use'],
  ['a use of nothing is a reading', 0, 85_520_809_984, '0.0 of 79.6 GiB in use'],
  ['a use that was not read is not shown as nothing', null, 85_520_809_984, '79.6 GiB, use not read'],
  ['a card without a size of its own', 13_207_024_435, null, '12.3 GiB in use'],
  ['neither was read', null, null, 'Memory not read'],
])('memory: %s', (_says, used, size, words) => expect(memoryWords(used, size)).toBe(words));

test('one card is no cards', () => {
  expect([0, 1, 2].map((count) => counted(count, 'card'))).toEqual(['0 cards', '1 card', '2 cards']);
});
