import { expect, test } from 'vitest';
import { errorWords } from '../../src/text/error-words.js';

test.each<[string, unknown, string]>([
  ['an error by its message', new Error('no route'), 'no route'],
  ['one without a message by its name', new TypeError(), 'TypeError'],
  [
    'several in one, whose own message is empty, one after the other',
    new AggregateError([new Error('::1 refused'), new AggregateError([new Error('127.0.0.1 refused'), 'gone'])]),
    '::1 refused; 127.0.0.1 refused; gone',
  ],
  ['several of which there are none by its own message', new AggregateError([], 'all failed'), 'all failed'],
  ['what is no error as it prints', 'aborted', 'aborted'],
  ['nothing', undefined, 'undefined'],
])('tells %s', (_says, thrown, words) => expect(errorWords(thrown)).toBe(words));
