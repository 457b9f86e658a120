import { createHash } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findPrincipal, openTokensFile, parseTokens } from '../../src/http/tokens-file.js';
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
    't, line 1: expected roles of admit, release, operate, read for a, with commas; got "root"',
  ],
  [
    'no role',
    `a:${sha('x')}:`,
    't, line 1: expected roles of admit, release, operate, read for a, with commas; got ""',
  ],
  ['a name with a space', `a b:${sha('x')}:read`, 't, line 1: expected a name of up to 63 letters'],
  ['the same token twice', `a:${sha('x')}:read\nb:${sha('x')}:read`, 't, line 2: the same token as in line 1'],
  ['no line at all', '# nobody\n', 't: holds no token, so nobody could call'],
])('%s makes the file bad', (_says, text, problem) => {
  const parsed = parseTokens('t', text, 0o600);
  expect(parsed).toEqual({ kind: 'bad', problems: [expect.stringContaining(problem)] });
});

test('every problem is said together, with its line, and never the line itself', () => {
  const parsed = parseTokens('t', `a:hunter2:read\n\nb\nc:${sha('x')}:x`, 0o604);
  expect(parsed.kind === 'bad' && parsed.problems.map((problem) => problem.slice(0, 12))).toEqual([
    't: can be re',
    't, line 1: e',
    't, line 3: e',
    't, line 4: e',
  ]);
  expect(JSON.stringify(parsed)).not.toContain('hunter2');
});

test('a file that everybody can read is refused; one that its group can read is not', async () => {
  const path = join(folder, 'readable');
  await writeFile(path, `a:${sha('x')}:read\n`);
  await chmod(path, 0o644);
  expect(await openTokensFile(path, collect([]))).toEqual({
    kind: 'bad',
    problems: [`${path}: can be read by everybody (mode 644); expected 640 or 600`],
  });
  await chmod(path, 0o640);
  expect(await openTokensFile(path, collect([]))).toMatchObject({ kind: 'good' });
});

test('a token that is struck out is out at once, and a file that goes bad changes nothing', async () => {
  const path = join(folder, 'changing');
  const logged: Gate['logged'] = [];
  await writeFile(path, `a:${sha('x')}:read\n`, { mode: 0o600 });
  const opened = await openTokensFile(path, collect(logged));
  if (opened.kind === 'bad') throw new Error(opened.problems.join());
  const who = async (token: string): Promise<string | undefined> =>
    findPrincipal(await opened.file.current(), token)?.name;
  expect(await who('x')).toBe('a');
  await writeFile(path, `b:${sha('y')}:read\n`);
  expect([await who('x'), await who('y')]).toEqual([undefined, 'b']);
  await writeFile(path, 'broken');
  expect(await who('y')).toBe('b');
  await writeFile(path, `c:${sha('z')}:read\n`);
  await chmod(path, 0o644);
  expect([await who('y'), await who('z')]).toEqual(['b', undefined]);
  expect(logged.filter(({ level }) => level === 'error')).toHaveLength(2);
});
