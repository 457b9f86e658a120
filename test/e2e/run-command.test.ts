/** `gpu-gate run` and its like, as somebody types them, on a real engine. */

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { healthyMachine } from '../../src/stand-in/machine/build-machine.js';
import { runCommand, startCommand, type Running } from '../support/command.js';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';

let engine: Engine;
let gate: Gate;
const env = () => ({ TUNEPLANE_URL: gate.url });

beforeAll(async () => {
  engine = await startEngine();
  gate = await startGate({ engine, machine: healthyMachine({ cards: 1 }) });
});
afterEach(async () => {
  for (const { Id } of await engine.docker.listContainers({ all: true })) {
    await engine.docker.getContainer(Id).remove({ force: true });
  }
});
afterAll(async () => {
  await gate?.stop();
  await engine?.stop();
});

const run = (...args: readonly string[]): Running => startCommand(['run', ...args], { env: env() });
const sh = (script: string): readonly string[] => [engine.image, 'sh', '-c', script];
const stateOf = async (runId: string): Promise<unknown> => (await gate.get(`/runs/${runId}`)).body;

test('shows what the job prints, and ends with its exit code', async () => {
  const said = await run('--name', 'one', ...sh('echo hello; echo "on $NVIDIA_VISIBLE_DEVICES"; exit 7')).ended;
  expect(said).toMatchObject({ code: 7 });
  expect(said.stdout).toMatch(/^hello\non GPU-/);
});

test('has everything behind the image to the job, and takes a name of its own', async () => {
  const said = await run('--cards', '0', '-e', 'A=b c', engine.image, 'sh', '-c', 'echo "$A" "$@"', 'sh', '--name', 'x')
    .ended;
  expect(said).toMatchObject({ code: 0, stdout: 'b c --name x\n' });
  const { runs } = (await gate.get('/runs')).body as { runs: { run_id: string }[] };
  expect(runs.map(({ run_id: id }) => id)).toEqual([expect.stringMatching(/-gate-test-[0-9a-f]{6}$/)]);
});

test('stops the job at Ctrl-C and shows its last words', async () => {
  const it = run('--name', 'two', ...sh('trap "echo bye; exit 3" TERM; echo up; while :; do sleep 0.1; done'));
  await expect.poll(() => it.stdout(), { timeout: 20_000 }).toBe('up\n');
  it.kill('SIGINT');
  expect(await it.ended).toMatchObject({ code: 3, stdout: 'up\nbye\n' });
  expect(it.stderr()).toContain('two: stopping it');
});

test('leaves the job to itself at a second Ctrl-C, and says how to come back', async () => {
  const it = run('--name', 'three', ...sh('trap "" TERM; echo up; while :; do sleep 0.1; done'));
  await expect.poll(() => it.stdout(), { timeout: 20_000 }).toBe('up\n');
  it.kill('SIGINT');
  await expect.poll(() => it.stderr()).toContain('stopping it');
  it.kill('SIGINT');
  expect(await it.ended).toMatchObject({ code: 130 });
  expect(it.stderr()).toContain('gpu-gate logs -f three');
});

test('waits in line with its place, leaves it at Ctrl-C, and runs when its turn comes', async () => {
  expect(await run('--detach', '--name', 'holder', ...sh('sleep 600')).ended).toEqual({
    code: 0,
    stdout: 'holder\n',
    stderr: '',
  });
  const [gives, stays] = [run('--name', 'gives-up', ...sh('true')), run('--name', 'stays', ...sh('echo my turn'))];
  await expect
    .poll(async () => ((await gate.get('/runs?state=waiting')).body as { runs: unknown[] }).runs.length, {
      timeout: 20_000,
    })
    .toBe(2);
  const listed = await runCommand(['ps'], { env: env() });
  expect(listed.stdout).toMatch(/stays +waiting \(\d\) +local/);
  gives.kill('SIGINT');
  expect(await gives.ended).toMatchObject({ code: 130 });
  expect(await stateOf('gives-up')).toMatchObject({ code: 'not_found' });
  const waited = runCommand(['wait', 'holder'], { env: env() });
  expect(await runCommand(['stop', 'holder', '--grace', '0'], { env: env() })).toMatchObject({ code: 0 });
  expect(await stays.ended).toMatchObject({ code: 0, stdout: 'my turn\n' });
  expect([137, 143]).toContain((await waited).code);
});

test('says why an image or a request is refused', async () => {
  const said = await run('--cards', '5', ...sh('true')).ended;
  expect(said).toMatchObject({ code: 5 });
  expect(said.stderr).toContain('more than this machine has');
  expect(await run('--cards', 'all', ...sh('true')).ended).toMatchObject({ code: 2 });
});

test('what ended long ago is pruned, and nothing else', async () => {
  expect(await run('--name', 'done', ...sh('true')).ended).toMatchObject({ code: 0 });
  await run('--detach', '--name', 'lives', ...sh('sleep 600')).ended;
  expect((await runCommand(['prune', '--older', '1d'], { env: env() })).stdout).toContain('removed 0 of 0');
  expect((await runCommand(['prune', '--older', '0m'], { env: env() })).stdout).toContain('removed 1 of 1');
  const { runs } = (await gate.get('/runs')).body as { runs: { run_id: string }[] };
  expect(runs.map(({ run_id: id }) => id)).toEqual(['lives']);
  expect(await runCommand(['prune', '--older', 'soon'], { env: env() })).toMatchObject({ code: 2 });
});
