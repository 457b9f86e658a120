import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bareEnv } from '../support/bare-env.js';
import { call } from '../support/call.js';
import { freePort } from '../support/services/redis.js';

/** `npm start` in a copy of this project that was made ready as the README says: built, then without development packages. */

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'installation-'));
const project = join(folder, 'project');
/** Nothing can be fetched: who tries fails. */
const env = { ...bareEnv(), npm_config_offline: 'true', npm_config_cache: join(folder, 'empty-cache') };

beforeAll(async () => {
  for (const each of ['.ci', '.npmrc', 'package.json', 'package-lock.json', 'src', 'dist', 'node_modules']) {
    cpSync(join(root, each), join(project, each), {
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
    });
  }
  for (const each of ['tsconfig.json', 'tsconfig.build.json']) cpSync(join(root, each), join(project, each));
  touch('dist/cli/gpu-gate.js');
  await npm('prune', '--omit=dev', '--ignore-scripts');
}, 180_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const npm = (...args: readonly string[]) =>
  execa('npm', args, { cwd: project, env, extendEnv: false, stdin: 'ignore', reject: false });
const help = () => npm('start', '--silent', '--', '--help');
const at = (file: string): number => statSync(join(project, file)).mtimeMs;

function touch(file: string): void {
  const now = new Date();
  utimesSync(join(project, file), now, now);
}

describe('an installation without development packages', () => {
  test('is one in which the lock file is newer than the build, and no compiler is there', () => {
    expect(at('package-lock.json')).toBeGreaterThan(at('dist/cli/gpu-gate.js'));
    expect(existsSync(join(project, 'node_modules/typescript'))).toBe(false);
  });

  test('serves with the build that it has, and says nothing of it', { timeout: 180_000 }, async () => {
    touch('src/README.md');
    const port = await freePort();
    const words = ['start', '--silent', '--', '--listen', `127.0.0.1:${port}`, '--state-dir', join(folder, 'state')];
    const noDocker = { DOCKER_HOST: `unix://${folder}/no-docker.sock` };
    const gate = spawn('npm', words, { cwd: project, env: { ...env, ...noDocker }, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = new Promise((resolve) => gate.once('exit', resolve));
    let log = '';
    gate.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
    const health = async () =>
      call(`http://127.0.0.1:${port}/healthz`).then(
        ({ status }) => status,
        () => log,
      );
    try {
      await expect.poll(health, { timeout: 150_000 }).toBe(200);
    } finally {
      gate.kill('SIGTERM');
    }
    expect(await ended).toBe(0);
    expect(log.split('\n').filter((line) => line !== '' && !line.startsWith('{'))).toEqual([]);
  });

  test('whose source is newer runs the build that is there, and says so in one line', async () => {
    touch('src/main.ts');
    const { exitCode, stdout, stderr } = await help();
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('TUNEPLANE_LISTEN')]);
    expect(stderr).toMatch(/^src is newer than the build, and the development packages .* not installed.*$/);
  });

  test('that was copied, so that the times of its lock files say nothing, fetches nothing', async () => {
    touch('package-lock.json');
    const { exitCode, stdout } = await help();
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('TUNEPLANE_LISTEN')]);
    expect(existsSync(join(project, 'node_modules/express'))).toBe(true);
  });

  test('that has no build says what is missing', async () => {
    rmSync(join(project, 'dist'), { recursive: true });
    const { exitCode, stderr } = await help();
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /^there is no compiler .*: the development packages are not installed; npm ci --include=dev/,
    );
  });
});

describe('whether packages have to be fetched is told by what the two lock files say', () => {
  const HERE = 'node_modules/.package-lock.json';
  type Packages = Record<string, { version?: string } | undefined>;

  const asked = async (change: (here: Packages) => void): Promise<number | undefined> => {
    const lock = JSON.parse(readFileSync(join(root, HERE), 'utf8')) as { packages: Packages };
    change(lock.packages);
    writeFileSync(join(project, HERE), JSON.stringify(lock));
    return (await execa('node', ['.ci/installed.mjs'], { cwd: project, reject: false })).exitCode;
  };
  const without = (here: Packages, ...names: readonly string[]): void => {
    for (const name of names) delete here[`node_modules/${name}`];
  };

  test.each<[string, 0 | 1, (here: Packages) => void]>([
    ['all are there', 0, () => {}],
    ['a package is missing', 1, (here) => without(here, 'express')],
    ['a package is of another version', 1, (here) => (here['node_modules/express'] = { version: '4.0.0' })],
    ['a development package is missing beside the compiler', 1, (here) => without(here, 'vitest')],
    ['development packages were left out', 0, (here) => without(here, 'typescript', 'vitest')],
    ['a package is missing too where they were left out', 1, (here) => without(here, 'typescript', 'express')],
  ])('%s: %i', async (_says, exitCode, change) => expect(await asked(change)).toBe(exitCode));

  test('nothing is there: 1', async () => {
    rmSync(join(project, HERE));
    expect((await execa('node', ['.ci/installed.mjs'], { cwd: project, reject: false })).exitCode).toBe(1);
  });
});
