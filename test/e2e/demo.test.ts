import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cardsShape } from '../../src/cards/card-shape.js';
import { endJobsNow } from '../../src/runtime/process/end-jobs.js';
import { call } from '../support/call.js';
import { processesOf } from '../support/running/left-overs.mjs';

/** `npm run demo`, once the clone is ready: what a person sees first. */

const COMMAND = fileURLToPath(new URL('../../dist/cli/gpu-gate.js', import.meta.url));
const PATH = `${dirname(process.execPath)}:/usr/bin:/bin`;

let folder: string;
let demo: ChildProcess;
let said = '';
let complaints = '';
let ended: Promise<number | null>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'demo-'));
  const { GPU_GATE_TEST_ROOT: root } = process.env;
  demo = spawn('/usr/bin/setpriv', ['--pdeathsig', 'KILL', process.execPath, COMMAND, 'demo'], {
    // Neither Docker nor a driver is here, and what this shell has set for another gate does not reach it.
    env: {
      PATH,
      TMPDIR: folder,
      HOME: folder,
      DOCKER_HOST: `unix://${folder}/no-docker.sock`,
      TUNEPLANE_LISTEN: '0.0.0.0:1',
      ...(root !== undefined && { GPU_GATE_TEST_ROOT: root }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  demo.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  demo.stderr?.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
  ended = new Promise((resolve) => demo.once('close', resolve));
});

afterAll(() => {
  demo?.kill('SIGKILL');
  for (const name of readdirSync(folder)) endJobsNow(join(folder, name, 'claims'));
  rmSync(folder, { recursive: true, force: true });
});

test('shows eight cards that are not real, admits by the line that it prints, and leaves nothing when it ends', async () => {
  await expect.poll(() => said, { timeout: 30_000 }).toContain('Ctrl-C ends');
  expect(said).toContain('THE CARDS BELOW ARE NOT REAL');
  const url = /page\s+(http:\/\/127\.0\.0\.1:\d+\/)/.exec(said)?.[1] ?? '';
  const authorization = `Bearer ${/token\s+(tpgate_\S+)/.exec(said)?.[1]}`;
  const look = async () => cardsShape.parse((await call(new URL('/cards', url), { headers: { authorization } })).body);
  expect((await look()).cards).toHaveLength(8);
  expect((await look()).counts).toMatchObject({ unhealthy: 1, external: 1, unknown: 0 });
  await expect
    .poll(async () => (await look()).cards.map(({ unhealthy }) => unhealthy.map(({ reason }) => reason).join()))
    .toContain('recovery_action,xid');
  await expect
    .poll(async () => (await look()).cards.find((card) => card.held_by?.run_id === 'notebook')?.held_idle_seconds ?? 0)
    .toBeGreaterThan(0);
  expect((await call(url)).status).toBe(200);
  expect((await call(new URL('/admit', url), { method: 'POST', body: {} })).status).toBe(401);

  const line = /^ +(curl .*\/admit .*)$/m.exec(said)?.[1] ?? '';
  expect(await runLine(line)).toMatchObject({ decision: 'admitted', run_id: 'mine', run: { state: 'running' } });
  expect((await look()).cards).toContainEqual(
    expect.objectContaining({ state: 'job_held', held_by: expect.objectContaining({ run_id: 'mine' }) }),
  );
  // Others come by themselves.
  await expect.poll(() => said).toMatch(/train-1: runs on cards \d, \d for/);
  await expect.poll(() => said).toMatch(/large: asks for 7 cards and is told to wait: 8 cards/);
  expect(processesOf(folder).filter(({ command }) => command.startsWith('sleep')).length).toBeGreaterThan(1);

  // Under npm a terminal's Ctrl-C comes twice.
  demo.kill('SIGINT');
  demo.kill('SIGINT');
  expect(await ended).toBe(0);
  expect(readdirSync(folder)).toEqual([]);
  await expect.poll(() => processesOf(folder)).toEqual([]);
  expect(complaints).toBe('');
});

/** What the line answers, run by a shell as a person would; by ourselves where there is no curl. */
async function runLine(line: string): Promise<unknown> {
  const run = promisify(execFile);
  const hasCurl = await run('/bin/sh', ['-c', 'command -v curl'], { env: { PATH } }).catch(() => null);
  if (hasCurl !== null) return JSON.parse((await run('/bin/sh', ['-c', line], { env: { PATH } })).stdout);
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
  const headers = words.flatMap((word, at) => (words[at - 1] === '-H' ? [word.split(': ') as [string, string]] : []));
  const [address = '', body = ''] = [words[2], words.at(-1)];
  return (await call(address, { method: 'POST', headers: Object.fromEntries(headers), body })).body;
}
