import { describe, expect, test } from 'vitest';
import { check, examine, exitCodeOf, ok, type FindingState } from '../../src/doctor/check.js';

describe('the checks', () => {
  test('are told in their order, and one that throws or never answers hides none of the others', async () => {
    const findings = await examine([
      check('late', () => new Promise(() => undefined), 30),
      check('fine', async () => ok('it is')),
      check('broken', async () => {
        throw new Error('no such thing');
      }),
    ]);
    expect(findings).toEqual([
      { name: 'late', state: 'unknown', says: 'no answer within 0.03 s', todo: null },
      { name: 'fine', state: 'ok', says: 'it is', todo: null },
      { name: 'broken', state: 'unknown', says: 'the check itself failed: no such thing', todo: null },
    ]);
  });

  test('are asked side by side', async () => {
    const asked: string[] = [];
    let letGo: (() => void) | undefined;
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    const held = (name: string) =>
      check(name, async () => {
        asked.push(name);
        if (asked.length === 2) letGo?.();
        await gate;
        return ok('');
      });
    expect(await examine([held('a'), held('b')])).toHaveLength(2);
  });
});

test.each<[string, FindingState[], number]>([
  ['nothing wrong is 0', ['ok', 'skipped'], 0],
  ['a warning is 1', ['ok', 'warning'], 1],
  ['what could not be seen is not fine either', ['ok', 'unknown'], 1],
  ['an error is 2, whatever else there is', ['warning', 'error', 'unknown'], 2],
])('%s', (_says, states, code) => {
  expect(exitCodeOf(states.map((state) => ({ name: 'a', state, says: '', todo: null })))).toBe(code);
});
