import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseTokens } from '../../src/http/tokens-file.js';
import { SETTINGS } from '../../src/settings/table.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
let folder = '';

beforeAll(async () => {
  // The command as it is installed: compiled, with package.json above it, in a folder that git does not see.
  mkdirSync(join(root, '.vitest'), { recursive: true });
  folder = mkdtempSync(join(root, '.vitest', 'command-'));
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));
  const flags = ['-p', 'tsconfig.build.json', '--outDir', join(folder, 'dist')];
  await execa(join(root, 'node_modules/.bin/tsc'), flags, { cwd: root, reject: false });
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the command with this environment and nothing else. */
function gpuGate(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const command = join(folder, 'dist/cli/gpu-gate.js');
  return execa('node', [command, ...args], {
    env,
    extendEnv: false,
    reject: false,
    preferLocal: false,
    stdin: 'ignore',
  });
}

describe('gpu-gate', () => {
  test('says its version', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(await gpuGate(['--version'])).toMatchObject({ exitCode: 0, stdout: `gpu-gate ${version} (unknown)` });
  });

  test('shows its commands', async () => {
    const { exitCode, stdout } = await gpuGate(['--help']);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/serve.*\n.*token/);
  });

  test('refuses a command that it does not have', async () => {
    const { exitCode, stderr } = await gpuGate(['sevre']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('serve');
  });
});

test.each([
  'serve',
  'doctor',
  'status',
  'check',
  'admit',
  'runs',
  'remove',
  'exclude',
  'include',
  'forget',
  'token new',
])('gpu-gate %s --help shows an example', async (command) => {
  const { exitCode, stdout, stderr } = await gpuGate([...command.split(' '), '--help']);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toMatch(new RegExp(`^ {2}[#$] .*gpu-gate ${command}`, 'm'));
});

describe('gpu-gate serve', () => {
  test('shows every setting with --help, whatever else is wrong', async () => {
    const { exitCode, stdout } = await gpuGate(['serve', '--listen', 'nowhere', '--help']);
    expect(exitCode).toBe(0);
    for (const [, { name }] of SETTINGS) expect(stdout).toContain(`${name}, default: `);
  });

  test('says every problem on standard error and ends with code 2', async () => {
    const env = { TUNEPLANE_PROCESSES: '2', TUNEPLANE_REDIS_URL: '' };
    const { exitCode, stdout, stderr } = await gpuGate(['serve', '--listen', '0.0.0.0:9840', '--lisen=x', 'now'], env);
    expect(exitCode).toBe(2);
    expect(stdout).toBe('');
    expect(stderr.split('\n').map((line) => line.trim().split(' ').slice(0, 2).join(' '))).toEqual([
      'gpu-gate: these',
      '--lisen is',
      '"now" is',
      'TUNEPLANE_PROCESSES is',
      'TUNEPLANE_LISTEN is',
      'TUNEPLANE_LISTEN is',
      '`gpu-gate serve',
    ]);
  });
});

describe('gpu-gate token new', () => {
  test('gives a line that lets the token in, on standard output, and the token once, on standard error', async () => {
    const { exitCode, stdout, stderr } = await gpuGate(['token', 'new', 'console', '--roles', 'release, admit']);
    expect(exitCode).toBe(0);
    const token = /^ {2}(tpgate_[A-Za-z0-9_-]{43})$/m.exec(stderr)?.[1] ?? '';
    const digest = createHash('sha256').update(token).digest('hex');
    expect(stdout).toBe(`console:${digest}:admit,release`);
    expect(parseTokens('tokens', `${stdout}\n`, 0o600)).toMatchObject({
      kind: 'good',
      value: [{ principal: { name: 'console' } }],
    });
  });

  test('is never the same twice', async () => {
    const [one, other] = await Promise.all([1, 2].map(() => gpuGate(['token', 'new', 'a', '--roles', 'read'])));
    expect(one?.stdout).not.toBe(other?.stdout);
  });

  test.each([
    [
      'a role that there is not',
      ['a', '--roles', 'read,root'],
      2,
      '--roles has "root" in it: expected some of admit, release, operate, read, delegate, with commas',
    ],
    ['no role', ['a', '--roles', ''], 2, '--roles has "" in it'],
    ['a name that would break the line', ['a:b', '--roles', 'read'], 2, 'the name is "a:b"'],
    ['roles left out', ['a'], 2, '--roles'],
  ])('refuses %s', async (_says, args, code, words) => {
    const { exitCode, stdout, stderr } = await gpuGate(['token', 'new', ...args]);
    expect(exitCode).toBe(code);
    expect(stdout).toBe('');
    expect(stderr).toContain(words);
  });
});
