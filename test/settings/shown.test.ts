import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { readBuild } from '../../src/settings/build.js';
import { settingsHelp } from '../../src/settings/help.js';
import { nearest } from '../../src/settings/nearest.js';
import { SETTINGS } from '../../src/settings/table.js';
import { files, read as readFile } from '../documents/documents.js';
import { settingsTable } from '../documents/settings-table.js';
import { readSource } from '../support/house/source.js';

describe('every setting', () => {
  test('stands in the help with its flag, its default and what it does', () => {
    const help = settingsHelp(100).replaceAll(/\n {6}/g, ' ');
    for (const [, { name, standard, meaning }] of SETTINGS) {
      expect(help).toContain(`--${name.slice('TUNEPLANE_'.length).toLowerCase().replaceAll('_', '-')} <`);
      expect(help).toContain(`${name}, default: ${standard ?? ''}`);
      expect(help).toContain(meaning);
    }
  });

  test('has one row in the table for the README, with four bars', () => {
    const [, , ...rows] = settingsTable().trim().split('\n');
    expect(rows.map((row) => /^\| `(\w+)` \|/.exec(row)?.[1])).toEqual(SETTINGS.map(([, { name }]) => name));
    expect(rows.map((row) => row.replaceAll('\\|', '').split('|').length)).toEqual(rows.map(() => 5));
  });

  test('is read by a part of the gate', () => {
    const parts = files().filter((path) => path.endsWith('.ts') && /^src\/(?!settings\/)/.test(path));
    const read = new Set(parts.flatMap((path) => [...readSource(path, readFile(path)).names]));
    const said = new Set([...read].map((name) => name.split('.').at(-1)));
    expect(SETTINGS.map(([key]) => key).filter((key) => !said.has(key))).toEqual([]);
  });

  test('has a default that it accepts itself', () => {
    for (const [, { name, standard, parse }] of SETTINGS) {
      expect([name, standard === null ? 'value' : parse(standard).kind]).toEqual([name, 'value']);
    }
  });
});

test('the help keeps to the width it is given', () => {
  expect(
    Math.max(
      ...settingsHelp(72)
        .split('\n')
        .map((line) => line.length),
    ),
  ).toBeLessThanOrEqual(72);
});

test.each([
  ['one letter left out', 'lisen', 'listen'],
  ['two letters swapped', 'reids', 'redis'],
  ['another beginning', 'xxsten', 'listen'],
  ['equally near: the first of them', 'abc', 'abx'],
])('the nearest word: %s', (_says, word, expected) => {
  expect(nearest(word, ['abx', 'abz', 'listen', 'redis'])).toBe(expected);
});

describe('the build', () => {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });

  function build(files: Readonly<Record<string, string>>): ReturnType<typeof readBuild> {
    const folder = mkdtempSync(join(tmpdir(), 'build-'));
    folders.push(folder);
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(folder, name, '..'), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    return readBuild(pathToFileURL(`${folder}/`));
  }
  const packaged = { 'package.json': '{"version": "1.2.3"}' };

  test.each([
    ['nothing says which commit', {}, 'unknown'],
    ['a file of the image build says it', { REVISION: 'abc\n', '.git/HEAD': 'def\n' }, 'abc'],
    ['a branch is checked out', { '.git/HEAD': 'ref: refs/heads/main\n', '.git/refs/heads/main': 'abc\n' }, 'abc'],
    [
      'its ref is packed',
      { '.git/HEAD': 'ref: refs/heads/main\n', '.git/packed-refs': '# pack\nabc refs/heads/main\n' },
      'abc',
    ],
    ['a commit is checked out', { '.git/HEAD': 'abc\n' }, 'abc'],
  ])('%s', (_says, files, revision) => {
    expect(build({ ...packaged, ...files })).toEqual({ version: '1.2.3', revision });
  });

  test('of this package has a version', () => {
    expect(readBuild().version).toMatch(/^\d+\.\d+\.\d+/);
  });
});
