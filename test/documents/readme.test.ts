import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { OUTCOMES, WAIT_CODES } from '../../src/model/admission.js';
import { CARD_STATES } from '../../src/model/card.js';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

describe('the README', () => {
  test.each([...CARD_STATES, ...WAIT_CODES, ...OUTCOMES.filter((one) => one !== 'client_gone' && one !== 'internal')])(
    'names %s',
    (word) => {
      expect(readme).toContain(`\`${word}\``);
    },
  );

  test('points only at files that are there', () => {
    const files = [...readme.matchAll(/`(src\/[\w./-]+)`/g)].map(([, file]) => file ?? '');
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect(existsSync(new URL(`../../${file}`, import.meta.url)), file).toBe(true);
  });
});
