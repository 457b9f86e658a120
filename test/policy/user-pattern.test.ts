import { expect, test } from 'vitest';
import { isAllowedUser, userRefusal } from '../../src/policy/user-pattern.js';

test.each([
  ['any user', ['*'], '0:0', true],
  ["the image's own user, by a pattern for any", ['*'], undefined, true],
  ["the image's own user, by no other pattern", ['*:*'], undefined, false],
  ['the user and the group that are named', ['1000:1000'], '1000:1000', true],
  ['another group', ['1000:1000'], '1000:999', false],
  ['another user', ['1000:1000'], '0:1000', false],
  ['any group of the user', ['1000:*'], '1000:999', true],
  ['the group that the image says, by a pattern for any group', ['1000:*'], '1000', true],
  ['the group that the image says, where one is named', ['1000:1000'], '1000', false],
  ['the group that the image says, where none is named', ['1000'], '1000', false],
  ['the group of the same number, where none is named', ['1000'], '1000:1000', true],
  ['another group, where none is named', ['1000'], '1000:0', false],
  ['a user of a range with the group of that number', ['10*'], '1042:1042', true],
  ['a user of a range with another group of it', ['10*'], '1042:1043', false],
  ['a group of a range', ['1000:2*'], '1000:2001', true],
  ['a pattern that would match over the colon', ['1*0'], '1000:0', false],
])('%s', (_says, patterns, user, allowed) => {
  expect(isAllowedUser(patterns, user)).toBe(allowed);
});

test('who only forgot the group is told how to write it', () => {
  const says = 'the user 1000 leaves its group to the image: name one, as 1000:1000; allowed: 1000';
  expect(userRefusal(['1000'], '1000')).toBe(says);
  expect(userRefusal(['1000'], '0:0')).toBe('the user 0:0 is not allowed here; allowed: 1000');
  expect(userRefusal([], undefined)).toBe("the image's own user is not allowed here; allowed: none");
});
