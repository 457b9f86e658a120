import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readSource } from './support/house/source.js';
import { whySlow } from './support/slow-pattern.js';

/**
 * No pattern of the gate takes more steps than its text has characters, times a constant: what a caller sends must not be able
 * to stop the process.
 */

/** Slower than the rest of the tests where recheck has no native build and runs in JavaScript. */
const LIMIT_MS = 300_000;

const root = new URL('..', import.meta.url);
const paths = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard', 'src'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((path) => path.endsWith('.ts'));
const sources = paths.map((path) => readSource(path, readFileSync(new URL(path, root), 'utf8')));

/** Put together once, as the file is loaded, from characters alone: one class, of which a text is taken in one pass. */
const OF_ONE_CLASS = 'src/text/plain.ts';

test('no pattern is put together while the gate runs, where nobody has checked it', () => {
  expect(sources.flatMap(({ path, patterns }) => (patterns.includes(null) ? [path] : []))).toEqual([OF_ONE_CLASS]);
});

test('no pattern of the gate can be made slow', { timeout: LIMIT_MS }, async () => {
  const patterns = sources.flatMap(({ path, patterns: found }) =>
    found.flatMap((pattern) => (pattern === null ? [] : [{ path, pattern }])),
  );
  expect(patterns.length).toBeGreaterThan(100);
  const told: string[] = [];
  for (const { path, pattern } of patterns) {
    const slow = await whySlow(pattern);
    if (slow !== null) told.push(`${path}: /${pattern.source}/${pattern.flags} is ${slow}`);
  }
  expect(told).toEqual([]);
});

test.each<[string, RegExp, string]>([
  ['two stars that share their characters', /^\/[^\0]*[^\0/][^\0]*$/, 'polynomial'],
  ['an end that is looked for from every place', /\/+$/, 'polynomial'],
  ['a beginning that its own text repeats', /(rediss?:\/\/)\S*@/, 'polynomial'],
  ['a star in a star', /^(?:[a-z]+)*$/, 'exponential'],
])('a slow one would be told: %s', { timeout: LIMIT_MS }, async (_says, { source, flags }, degree) => {
  expect(await whySlow({ source, flags })).toContain(degree);
});

test('one that is put together would be told', () => {
  expect(readSource('src/a.ts', 'export const a = new RegExp(`^${b}`), c = RegExp("d"), e = /f/u;').patterns).toEqual([
    null,
    null,
    { source: 'f', flags: 'u' },
  ]);
});
