import { createHash } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findPrincipal, openTokensFile, parseTokens, type OpenedTokens } from '../../src/http/tokens-file.js';
import type { Log } from '../../src/model/ports/outside.js';
import { systemClock } from '../../src/time/system-clock.js';
import { collect, type Gate } from './gate.js';

const sha = (token: string): string => createHash('sha256').update(token).digest('hex');

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tokens-'));
});
afterAll(() => rm(folder, { recursive: true }));

test('a token belongs to the name in its line, with the roles in its line', () => {
  const text = `# who may call\n\nconsole:${sha('one')}:admit,read\n ops : x`.split(' ops')[0] ?? '';
  const parsed = parseTokens('t', `${text}\r\nops:${sha('two').toUpperCase()}:operate, release,operate\n`, 0o100640);
  if (parsed.kind === 'bad') throw new Error(parsed.problems.join());
  expect(findPrincipal(parsed.value, 'one')).toEqual({ name: 'console', roles: ['admit', 'read'] });
  expect(findPrincipal(parsed.value, 'two')).toEqual({ name: 'ops', roles: ['operate', 'release'] });
  for (const wrong of ['', 'on', 'onee', 'ONE', sha('one')]) expect(findPrincipal(parsed.value, wrong)).toBeNull();
});

test('a name may have two tokens, so that one can be changed without a gap', () => {
  const parsed = parseTokens('t', `a:${sha('old')}:read\na:${sha('new')}:read\n`, 0o600);
  if (parsed.kind === 'bad') throw new Error(parsed.problems.join());
  expect(['old', 'new'].map((token) => findPrincipal(parsed.value, token)?.name)).toEqual(['a', 'a']);
});

test.each([
  [
    'a token instead of its hash',
    'a:secret-token:read',
    "t, line 1: expected the SHA-256 of a's token, 64 hex digits; got 12 characters",
  ],
  ['two parts', `a:${sha('x')}`, 't, line 1: expected name:sha256-of-token:roles, three parts; got 2'],
  [
    'a role that does not exist',
    `a:${sha('x')}:read,root`,
    't, line 1: expected roles of admit, release, operate, read, delegate for a, with commas; got "root"',
  ],
  [
    'no role',
    `a:${sha('x')}:`,
    't, line 1: expected roles of admit, release, operate, read, delegate for a, with commas; got ""',
  ],
  ['a name with a space', `a b:${sha('x')}:read`, 't, line 1: expected a name of up to 63 letters'],
  ['the same token twice', `b:${sha('x')}:read\na:${sha('x')}:admit`, 't, line 2: the same token as in line 1'],
])('a line with %s gives nothing, and the others do', (_says, text, problem) => {
  const parsed = parseTokens('t', `${text}\nlast:${sha('last')}:read`, 0o600);
  if (parsed.kind === 'bad') throw new Error(parsed.problems.join());
  expect(parsed.passedOver).toEqual([expect.stringContaining(problem)]);
  expect(findPrincipal(parsed.value, 'last')?.name).toBe('last');
  expect(findPrincipal(parsed.value, 'x')?.name).toBe(text.startsWith('b:') ? 'b' : undefined);
});

test('a file without any token is bad', () => {
  const none = 't: holds no token, so nobody could call; expected lines of name:sha256-of-token:roles';
  expect(parseTokens('t', '# nobody\n', 0o600)).toEqual({ kind: 'bad', problems: [none] });
});

test('every problem is said together, with its line, and never the line itself', () => {
  const parsed = parseTokens('t', `a:hunter2:read\n\nb\nc:${sha('x')}:x`, 0o600);
  expect(parsed.kind === 'bad' && parsed.problems.map((problem) => problem.slice(0, 12))).toEqual([
    't, line 1: e',
    't, line 3: e',
    't, line 4: e',
    't: holds no ',
  ]);
  expect(JSON.stringify(parsed)).not.toContain('hunter2');
});

test('a file that everybody can read is refused; one that its group can read is not', async () => {
  const path = join(folder, 'readable');
  await writeFile(path, `a:${sha('x')}:read\n`);
  await chmod(path, 0o644);
  expect(await openTokensFile(path, outside([]))).toEqual({
    kind: 'bad',
    problems: [`${path}: can be read by everybody (mode 644); expected 640 or 600`],
  });
  await chmod(path, 0o640);
  expect(await openTokensFile(path, outside([]))).toMatchObject({ kind: 'good' });
});

describe('while the gate runs', () => {
  const path = (): string => join(folder, 'changing');
  const line = (name: string): string => `${name}:${sha(name)}:read\n`;
  let logged: Gate['logged'] = [];
  let file: Extract<OpenedTokens, { kind: 'good' }>['file'];
  beforeEach(async () => {
    logged = [];
    await rm(path(), { force: true });
    await writeFile(path(), line('a') + line('b'), { mode: 0o600 });
    const opened = await openTokensFile(path(), outside(logged));
    if (opened.kind === 'bad') throw new Error(opened.problems.join());
    ({ file } = opened);
  });
  const known = async (): Promise<string[]> => {
    const entries = await file.current();
    return ['a', 'b', 'c'].filter((name) => findPrincipal(entries, name) !== null);
  };
  const errors = (): number => logged.filter(({ level }) => level === 'error').length;

  test('a token that is struck out is out at once, whatever else is wrong in the file', async () => {
    await writeFile(path(), `${line('b')}something else\n${line('c')}`);
    expect(await known()).toEqual(['b', 'c']);
    expect(file.status()).toMatchObject({ file: 'tokens', inForce: 'in_part' });
    await writeFile(path(), 'something else\n');
    expect(await known()).toEqual([]);
    await writeFile(path(), line('c'));
    expect(await known()).toEqual(['c']);
    expect(file.status()).toMatchObject({ inForce: 'as_written' });
    expect(errors()).toBe(2);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['is gone', () => rm(path())],
    ['is empty', () => writeFile(path(), '')],
    ['holds nothing but blanks', () => writeFile(path(), ' \n\n')],
    ['can be read by everybody', () => chmod(path(), 0o604)],
    ['can be written by everybody', () => chmod(path(), 0o602)],
    ['can be written by a group', () => chmod(path(), 0o620)],
    ['can be written by both', () => chmod(path(), 0o622)],
    ["is another user's", () => chown(path(), 1000, 1000)],
    ['is a folder', () => rm(path()).then(() => mkdir(path()))],
    ['is a pipe', () => rm(path()).then(() => execa('mkfifo', ['-m', '600', path()]))],
  ])('a file that %s lets nobody in, and those in it again when it is mended', async (_says, spoil) => {
    await spoil();
    expect(await known()).toEqual([]);
    await known();
    expect(file.status()).toMatchObject({ inForce: 'nothing' });
    expect(errors()).toBe(1);
    await rm(path(), { recursive: true, force: true });
    await writeFile(path(), line('a'), { mode: 0o600 });
    expect(await known()).toEqual(['a']);
    expect(file.status()).toMatchObject({ inForce: 'as_written' });
  });

  test.each([[0o602], [0o622]])('and at the start one of mode %o is refused', async (mode) => {
    await chmod(path(), mode);
    expect(await openTokensFile(path(), outside([]))).toEqual({
      kind: 'bad',
      problems: [`${path()}: can be written by others (mode ${mode.toString(8)}); expected 640 or 600`],
    });
  });

  test('who asks while an older state of the file is being read does not go by that one', async () => {
    await writeFile(path(), line('a') + line('c'));
    const first = known();
    await writeFile(path(), line('c'));
    const second = known();
    expect([await first, await second][1]).toEqual(['c']);
  });
});

function outside(logged: Gate['logged']): { clock: typeof systemClock; log: Log } {
  return { clock: systemClock, log: collect(logged) };
}
