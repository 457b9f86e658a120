import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bareEnv } from '../support/bare-env.js';
import { call } from '../support/call.js';
import { freePort } from '../support/services/redis.js';

/** What `npm pack` gives, installed where nothing else is. Alone in its file: npm fetches what the package needs. */

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'pack-'));
const project = join(folder, 'project');
const env = bareEnv();

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}
let packed: Packed;

beforeAll(async () => {
  // Built already by whoever runs the tests; built again it would be gone for a moment, under the feet of other tests.
  const { stdout } = await execa('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    cwd: root,
  });
  packed = (JSON.parse(stdout) as [Packed])[0];
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{"name": "empty", "private": true}');
  const flags = ['--omit=dev', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  await execa('npm', ['install', ...flags, join(folder, packed.filename)], { cwd: project, env, extendEnv: false });
}, 180_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const gpuGate = (...args: readonly string[]) =>
  execa('npx', ['--no-install', 'gpu-gate', ...args], { cwd: project, env, extendEnv: false, stdin: 'ignore' });

test('the package has what it needs to run, and nothing else', () => {
  const paths = packed.files.map(({ path }) => path);
  const outside = paths.filter((path) => !path.startsWith('dist/')).toSorted();
  expect(outside).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json']);
  expect(paths.filter((path) => /test|\.ts$|\.map$|tsbuildinfo/.test(path))).toEqual([]);
  expect(paths).toEqual(expect.arrayContaining(['dist/page/client/index.html', 'dist/stand-in/nvidia-smi.js']));
  for (const program of ['dist/cli/gpu-gate.js', 'dist/stand-in/nvidia-smi.js']) {
    expect((packed.files.find(({ path }) => path === program)?.mode ?? 0) & 0o111).toBe(0o111);
  }
});

test('it says its version, its settings, and makes a token', async () => {
  expect((await gpuGate('--version')).stdout).toMatch(/^gpu-gate \d+\.\d+\.\d+ /);
  expect((await gpuGate('serve', '--help')).stdout).toContain('TUNEPLANE_LISTEN, default: 127.0.0.1:9840');
  expect((await gpuGate('token', 'new', 'console', '--roles', 'read')).stdout).toMatch(/^console:[0-9a-f]{64}:read$/);
});

test('it serves: its health, its page and its cards', async () => {
  const port = await freePort();
  const settings = {
    TUNEPLANE_LISTEN: `127.0.0.1:${port}`,
    TUNEPLANE_STATE_DIR: join(folder, 'state'),
    DOCKER_HOST: `unix://${folder}/no-docker.sock`,
    TUNEPLANE_NVIDIA_SMI: join(project, 'node_modules/tuneplane-gpu-gate/dist/stand-in/nvidia-smi.js'),
  };
  const words = ['--pdeathsig', 'KILL', join(project, 'node_modules/.bin/gpu-gate'), 'serve'];
  const gate = spawn('/usr/bin/setpriv', words, { cwd: project, env: { ...env, ...settings }, stdio: 'ignore' });
  const ended = new Promise((resolve) => gate.once('exit', resolve));
  try {
    const status = async (path: string) =>
      call(`http://127.0.0.1:${port}${path}`).then(
        (said) => said.status,
        () => null,
      );
    await expect.poll(() => status('/healthz'), { timeout: 20_000 }).toBe(200);
    expect([await status('/'), await status('/cards'), await status('/metrics')]).toEqual([200, 200, 200]);
  } finally {
    gate.kill('SIGTERM');
    expect(await ended).toBe(0);
  }
});
