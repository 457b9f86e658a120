import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { PROBLEMS } from '../src/http/problem.js';
import { METRICS } from '../src/metrics/names.js';
import { SETTINGS } from '../src/settings/table.js';
import { badHeaders } from './support/house/headers.js';
import { broken, brokenInGrafana, sleeping, unfinished, unusedPermits } from './support/house/house-rules.js';
import { badLogLines } from './support/house/log-lines.js';
import { readSource } from './support/house/source.js';
import { codesAnswered, keysRead } from './support/house/used-names.js';

const root = new URL('..', import.meta.url);
// Tracked, and new but not ignored: what a commit would hold. A file that was deleted may still be listed.
const listed = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' });
const files = listed.split('\0').filter((path) => path !== '' && existsSync(new URL(path, root)));

const sourcesBelow = (folder: string) =>
  files
    .filter((path) => path.startsWith(folder) && path.endsWith('.ts'))
    .map((path) => readSource(path, readFileSync(new URL(path, root), 'utf8')));

describe('this repository', () => {
  test('keeps its folders to what they may reach', () => {
    const sources = sourcesBelow('src/');
    expect(sources.length).toBeGreaterThan(5);
    expect(broken(sources)).toEqual([]);
  });

  test('permits nothing that nobody uses', () => {
    expect(unusedPermits(sourcesBelow('src/'))).toEqual([]);
  });

  test('says at the beginning of each file, once, what question it answers', () => {
    expect(badHeaders(sourcesBelow('src/'))).toEqual([]);
  });

  test('writes its log in one form', () => {
    expect(badLogLines(sourcesBelow('src/'))).toEqual([]);
  });

  test('reads every setting, sets every metric and answers with every code', () => {
    const sources = sourcesBelow('src/');
    const outside = (room: string) => sources.filter(({ path }) => !path.startsWith(room));
    const read = keysRead('settings', outside('src/settings/'));
    // How many processes allocate is what the operator says: it is held against Redis and the claims, and steers nothing.
    expect(SETTINGS.map(([key]) => key).filter((key) => !read.has(key))).toEqual(['processes']);
    const set = keysRead(
      'METRICS',
      sources.filter(({ path }) => path.startsWith('src/metrics/')),
    );
    expect(Object.keys(METRICS).filter((key) => !set.has(key))).toEqual([]);
    const answered = codesAnswered(outside('src/openapi/'));
    expect(Object.keys(PROBLEMS).filter((code) => !answered.has(code))).toEqual([]);
  });

  test('makes the files for Grafana out of the words of the gate alone', () => {
    const sources = sourcesBelow('grafana/');
    expect(sources.length).toBeGreaterThan(5);
    expect(brokenInGrafana(sources)).toEqual([]);
  });

  test('has no test that sleeps and no note to do something later', () => {
    const tests = sourcesBelow('test/');
    expect(tests.map((source) => source.path)).toContain('test/architecture.test.ts');
    expect(tests.flatMap(sleeping)).toEqual([]);
    expect(tests.flatMap(unfinished)).toEqual([]);
  });

  test('has at its top only what people and tools look for there', () => {
    const folders = ['src', 'test', 'grafana', '.ci'];
    const read = ['README.md', 'CHANGELOG.md', 'LICENSE', 'Dockerfile', 'compose.yaml'];
    const byTools = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'vitest.config.ts'];
    const atTop = new Set(files.map((path) => path.split('/')[0] ?? ''));
    const isDotFile = (name: string) => name.startsWith('.') && files.includes(name);
    const strange = [...atTop].filter((name) => ![...folders, ...read, ...byTools].includes(name) && !isDotFile(name));
    expect(strange).toEqual([]);
  });
});

describe('the rules', () => {
  test.each([
    ['a part of the house may import its own files', 'src/pick/a.ts', `import { b } from './b.js';`],
    ['thinking may import the nouns', 'src/occupancy/a.ts', `import type { Card } from '../model/card.js';`],
    [
      'a name in a comment or a string is no import',
      'src/pick/a.ts',
      `// import 'execa'\nexport const a = "import 'execa'";`,
    ],
    [
      'a word in a comment or a string is no call',
      'src/pick/a.ts',
      `/* Date.now() */ export const a = 'process.exit()';`,
    ],
    [
      'a date made of a given time asks no clock',
      'src/occupancy/a.ts',
      `export const a = (ms: number) => new Date(ms);`,
    ],
    ['main.ts may end the process', 'src/main.ts', `process.exit(0);`],
    ['the command sets the exit code', 'src/cli/a.ts', `process.exitCode = 2;`],
    ['the hands may import what speaks to Docker', 'src/runtime/docker/a.ts', `import '../../docker/client.js';`],
    ['a process may be spoken of', 'src/occupancy/a.ts', `export const a = (process: { pid: number }) => process.pid;`],
  ])('%s', (_says, path, text) => expect(inAFile(path, text)).toEqual([]));

  test.each([
    ['the nouns import nothing', 'src/model/a.ts', `import { z } from 'zod';`, 'the package zod'],
    ['thinking imports no module of Node', 'src/pick/a.ts', `import { readFileSync } from 'node:fs';`, 'node:fs'],
    ['a face imports no eyes', 'src/metrics/a.ts', `import { look } from '../probe/look.js';`, 'imports probe'],
    ['not even for a type', 'src/metrics/a.ts', `import type { Look } from '../probe/look.js';`, 'imports probe'],
    ['not even inside a type', 'src/metrics/a.ts', `export type L = import('../probe/look.js').Look;`, 'imports probe'],
    ['not even on to others', 'src/admission/a.ts', `export * from '../lock/lease.js';`, 'imports lock'],
    ['not even later', 'src/page/a.ts', `export const a = () => import('../runtime/docker/a.js');`, 'imports runtime'],
    ['not even by require', 'src/page/a.ts', `import a = require('../runtime/docker/a.js');`, 'imports runtime'],
    ['a folder inside a part is a part of its own', 'src/lock/redis/a.ts', `import '../lease.js';`, 'imports lock'],
    [
      'an import by a computed name is none we can judge',
      'src/page/a.ts',
      `export const a = (b: string) => import(b);`,
      'computed',
    ],
    ['checking a machine imports no face', 'src/doctor/a.ts', `import '../admission/admit.js';`, 'imports admission'],
    ['execa stays with eyes and hands', 'src/lock/a.ts', `import { execa } from 'execa';`, 'the package execa'],
    [
      'a package below a package is that package',
      'src/http/a.ts',
      `import x from 'dockerode/lib/x';`,
      'package dockerode',
    ],
    ['a package with a scope is told in full', 'src/http/a.ts', `import x from '@a/b/c';`, 'the package @a/b'],
    ['a folder that nobody planned is told', 'src/utils/a.ts', `export {};`, 'utils, which is no part'],
    ['thinking knows no clock', 'src/occupancy/a.ts', `export const a = () => Date.now();`, 'Date.now'],
    ['nor a new date', 'src/occupancy/a.ts', `export const a = () => new Date();`, 'new Date()'],
    ['nor chance', 'src/pick/a.ts', `export const a = () => Math.random();`, 'Math.random'],
    ['nor the environment', 'src/pick/a.ts', `export const a = process.env['A'];`, 'process.env'],
    ['and waits for nothing', 'src/pick/a.ts', `export async function a() { await null; }`, 'waits'],
    ['only main.ts ends the process', 'src/cli/a.ts', `if (1) { process.exit(1); }`, 'process.exit'],
    ['a file has an end', 'src/http/a.ts', 'export {};\n'.repeat(251), '251 lines'],
    ['a note to do something later is told', 'src/http/a.ts', `// FIXME: later\nexport {};`, 'later'],
  ])('%s', (_says, path, text, words) => {
    expect(inAFile(path, text)).toContainEqual(expect.stringMatching(new RegExp(`^${path}.*${escaped(words)}`)));
  });

  test.each([
    ['may know the nouns', `import { CARD_STATES } from '../../src/model/card.js';`, []],
    ['may know the names of the metrics', `import { METRICS } from '../../src/metrics/names.js';`, []],
    ['may not know how they come about', `import { createMeter } from '../../src/metrics/meter.js';`, ['meter.js']],
    ['asks no clock', `export const a = Date.now();`, ['Date.now']],
    ['opens no file', `import { readFileSync } from 'node:fs';`, ['node:fs']],
  ])('what makes the files for Grafana %s', (_says, text, words) => {
    const told = brokenInGrafana([readSource('grafana/panels/a.ts', text)]);
    expect(told).toEqual(words.map((word) => expect.stringContaining(word)));
  });

  test('a permit that nobody uses is told', () => {
    expect(unusedPermits([])).toContain('pick may import model, and does not');
    expect(unusedPermits([readSource('src/pick/a.ts', `import '../model/b.js';`)])).not.toContain(
      'pick may import model, and does not',
    );
  });

  test('two parts that import each other are told, once', () => {
    const one = readSource('src/probe/a.ts', `import '../runtime/b.js';`);
    const other = readSource('src/runtime/b.ts', `import '../probe/a.js';`);
    expect(broken([one, other])).toContain('src imports in a circle: probe, runtime, probe');
    expect(broken([one, other]).filter((each) => each.includes('circle'))).toHaveLength(1);
  });

  test('a circle over three parts is told too', () => {
    const circle = [
      readSource('src/http/a.ts', `import '../page/b.js';`),
      readSource('src/page/b.ts', `import '../metrics/c.js';`),
      readSource('src/metrics/c.ts', `import '../http/a.js';`),
    ];
    expect(broken(circle)).toContain('src imports in a circle: http, page, metrics, http');
  });

  test.each(['test.skip', 'it.only', 'describe.todo', 'test.skipIf', 'describe.each([]).only', 'xit'])(
    '%s is a test that does not run',
    (call) => expect(sleeping(readSource('test/a.test.ts', `${call}('a', () => {});`))).toHaveLength(1),
  );

  test('a table of tests runs', () => {
    expect(sleeping(readSource('test/a.test.ts', `test.each([1])('%s', () => {}); skip();`))).toEqual([]);
  });
});

function inAFile(path: string, text: string): string[] {
  return broken([readSource(path, text)]);
}

function escaped(words: string): string {
  return words.replaceAll(/[()@/.]/g, String.raw`\$&`);
}
