import { describe, expect, test } from 'vitest';
import { OUTCOMES, WAIT_CODES } from '../../src/model/admission.js';
import { CARD_STATES } from '../../src/model/card.js';
import { parsePolicy } from '../../src/policy/policy-file.js';
import { read } from './documents.js';

/** One sitting: what is longer has a page in the folder that it is about. */
const AT_MOST_BYTES = 20_000;

describe('the README', () => {
  test(`has at most ${AT_MOST_BYTES} bytes`, () => {
    expect(Buffer.byteLength(read('README.md'))).toBeLessThanOrEqual(AT_MOST_BYTES);
  });

  const unseen = new Set<string>(['client_gone', 'internal']);
  test.each([...CARD_STATES, ...WAIT_CODES, ...OUTCOMES.filter((one) => !unseen.has(one))])('names %s', (word) => {
    expect(read('README.md')).toContain(`\`${word}\``);
  });
});

test('the policy file that is shown is a good one, and has every key that is explained', () => {
  const page = read('src/policy/README.md');
  const [, example = ''] = /```json\n([^`]*)```/.exec(page) ?? [];
  expect(parsePolicy('the example', example)).toMatchObject({ kind: 'good' });
  const explained = [...page.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, keys = '']) =>
    [...keys.matchAll(/`(\w+)`/g)].map(([, key = '']) => key),
  );
  expect(Object.keys(JSON.parse(example) as object).toSorted()).toEqual(explained.toSorted());
});
