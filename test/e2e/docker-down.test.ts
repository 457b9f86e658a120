import { afterAll, beforeAll, expect, test } from 'vitest';
import { cardAt, defaultMachine, putLoad } from '../../src/stand-in/machine/build-machine.js';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';

/** Docker stopped, hung and back again, under a gate on a machine where one card is loaded and one is broken. */

let engine: Engine;
let gate: Gate;

beforeAll(async () => {
  engine = await startEngine();
  const machine = defaultMachine();
  putLoad(cardAt(machine, 2), 4000);
  cardAt(machine, 5).recovery_action = 'Reset';
  gate = await startGate({ engine, machine });
});
afterAll(async () => {
  await gate?.stop();
  await engine?.stop();
});

const states = async () => (await gate.cards()).cards.map(({ state }) => state);

async function showsThatDockerIsGone(): Promise<void> {
  await expect.poll(async () => (await gate.cards()).probes.docker.ok, { timeout: 20_000 }).toBe(false);
  expect(await states()).toEqual([
    'unknown',
    'unknown',
    'unknown',
    'unknown',
    'unknown',
    'unhealthy',
    'unknown',
    'unknown',
  ]);
  const answer = await gate.post('/admit', jobToPost('other'));
  expect(answer.status).toBe(503);
  expect(answer.body).toMatchObject({ code: 'docker_unavailable', retryable: true });
  expect(answer.headers['retry-after']).toBe('5');
  const page = await gate.metrics();
  expect(page.get('tuneplane_gpu_probe_success{probe="docker"}')).toBe(0);
  expect(page.get('tuneplane_gpu_external_probe_ok')).toBe(1);
  expect((await gate.get('/readyz')).status).toBe(503);
}

test('an older agent that writes only tuneplane.gpus=3 is seen to hold card 3', async () => {
  const container = await engine.docker.createContainer({
    name: 'agent-job',
    Image: engine.image,
    Cmd: ['sleep', '600'],
    Labels: { 'tuneplane.gpus': '3' },
  });
  await container.start();
  await expect.poll(async () => (await states())[3]).toBe('job_held');
  const { cards } = await gate.cards();
  expect(cards[3]).toMatchObject({ claims: 1, held_by: { run_id: 'agent-job' } });
  expect(cards[2]?.state).toBe('external');
  await expect.poll(() => gate.stderr()).toContain('was not written by a gate');
});

test('the engine stopped: loaded cards read unknown, not external, and admissions are 503', async () => {
  await engine.kill();
  await showsThatDockerIsGone();
});

test('the engine back: everything is seen again without a restart of the gate', async () => {
  await engine.restart();
  await expect.poll(async () => (await gate.cards()).probes.docker.ok, { timeout: 20_000 }).toBe(true);
  const seen = await states();
  expect(seen[2]).toBe('external');
  expect(seen[5]).toBe('unhealthy');
  expect((await gate.post('/admit', jobToPost('one'))).body).toMatchObject({ decision: 'admitted' });
});

test('the engine hung: the same, within the limits, and the pages answer', async () => {
  engine.pause();
  // A scrape may reuse a look that is younger than a second.
  await new Promise((resolve) => setTimeout(resolve, 1100));
  try {
    const began = performance.now();
    const page = await gate.get('/metrics', { 'x-prometheus-scrape-timeout-seconds': '2' });
    expect(page.status).toBe(200);
    expect(page.text).toContain('tuneplane_gpu_probe_success{probe="docker"} 0');
    expect(performance.now() - began).toBeLessThan(2500);
  } finally {
    engine.resume();
  }
  await expect.poll(async () => (await gate.cards()).probes.docker.ok, { timeout: 20_000 }).toBe(true);
});
