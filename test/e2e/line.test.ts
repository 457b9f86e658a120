/** The line on a real engine: two people, four cards, and a gate that is restarted in between. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { healthyMachine } from '../../src/stand-in/machine/build-machine.js';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost, type JobToPost } from '../support/jobs-to-post.js';
import { makeTokens } from '../support/tokens.js';

const tokens = makeTokens({ ada: 'admit,read,release', ben: 'admit,read,release' });
const machine = healthyMachine({ cards: 4 });

let engine: Engine;
const gates: Gate[] = [];

beforeAll(async () => {
  engine = await startEngine();
});
afterEach(async () => {
  await Promise.all(gates.splice(0).map((gate) => gate.kill()));
  for (const { Id } of await engine.docker.listContainers({ all: true })) {
    await engine.docker.getContainer(Id).remove({ force: true });
  }
});
afterAll(() => engine?.stop());

async function gate(settings: Readonly<Record<string, string>> = {}, stateDir?: string): Promise<Gate> {
  const one = await startGate({
    engine,
    machine,
    ...(stateDir === undefined ? {} : { stateDir }),
    settings: { TUNEPLANE_TOKENS_FILE: tokens.path, ...settings },
  });
  gates.push(one);
  return one;
}

interface Told {
  readonly decision: string;
  readonly position?: number;
  readonly reasons?: readonly { readonly code: string }[];
  readonly gpus?: readonly number[];
}

const ask = async (to: Gate, who: 'ada' | 'ben', body: JobToPost, headers = {}): Promise<Told> =>
  (await to.post('/admit', body, { ...tokens.as(who), ...headers })).body as Told;
const end = (runId: string): Promise<unknown> => engine.docker.getContainer(`tuneplane-${runId}`).stop({ t: 0 });
const codes = ({ reasons = [] }: Told): string[] => reasons.map(({ code }) => code);

test('a job for all four cards runs although one-card jobs keep coming', async () => {
  const it = await gate({ TUNEPLANE_RESERVE_AFTER_S: '1' });
  for (const each of [1, 2, 3, 4]) await ask(it, 'ben', jobToPost(`small-${each}`));
  const big = ask(it, 'ada', jobToPost('big', 4), { Prefer: 'wait=50' });
  await expect
    .poll(async () => (await it.metrics()).get('tuneplane_gpu_oldest_wait_seconds'), { timeout: 30_000 })
    .toBeGreaterThan(1);
  await end('small-1');
  const late = await ask(it, 'ben', jobToPost('small-5'));
  expect(late).toMatchObject({ decision: 'wait', position: 2 });
  expect(codes(late)).toContain('reserved');
  const kept = (await it.get('/cards', tokens.as('ada'))).body as { cards: { reserved_for: string | null }[] };
  expect(kept.cards.filter((card) => card.reserved_for === 'big')).toHaveLength(1);
  for (const each of [2, 3, 4]) await end(`small-${each}`);
  expect(await big).toMatchObject({ decision: 'admitted', gpus: [0, 1, 2, 3] });
});

test('one who comes between two askings of another does not pass, and a restarted gate loses nobody', async () => {
  const before = await gate();
  await ask(before, 'ben', jobToPost('all', 4));
  expect(await ask(before, 'ada', jobToPost('ada-1', 4))).toMatchObject({ decision: 'wait', position: 1 });
  expect(await ask(before, 'ben', jobToPost('ben-1', 4))).toMatchObject({ decision: 'wait', position: 2 });
  await before.stop();
  const after = await gate({}, before.stateDir);
  await end('all');
  const passing = await ask(after, 'ben', jobToPost('ben-1', 4));
  expect(passing).toMatchObject({ decision: 'wait', position: 2 });
  expect(codes(passing)).toEqual(['ahead_in_line']);
  expect(await ask(after, 'ada', jobToPost('ada-1', 4))).toMatchObject({ decision: 'admitted' });
});

test('a held request is told so, is decided when its turn comes, and hanging up drops it and not the place', async () => {
  const it = await gate();
  await ask(it, 'ben', jobToPost('all', 4));
  const gone = new AbortController();
  const hangsUp = it.call('/admit', {
    method: 'POST',
    body: jobToPost('ada-1', 4),
    headers: { ...tokens.as('ada'), Prefer: 'wait=50' },
    signal: gone.signal,
  });
  await expect.poll(async () => (await it.metrics()).get('tuneplane_gpu_runs_waiting')).toBe(1);
  gone.abort();
  await expect(hangsUp).rejects.toThrow('abort');
  expect(await ask(it, 'ben', jobToPost('ben-1', 4))).toMatchObject({ decision: 'wait', position: 2 });
  const held = it.post('/admit', jobToPost('ada-1', 4), { ...tokens.as('ada'), Prefer: 'wait=50' });
  await end('all');
  const answer = await held;
  expect(answer.headers['preference-applied']).toBe('wait=50');
  expect(answer.body).toMatchObject({ decision: 'admitted', replayed: false });
});

test('places survive a gate that is killed', async () => {
  const before = await gate();
  await ask(before, 'ben', jobToPost('all', 4));
  await ask(before, 'ada', jobToPost('ada-1', 4));
  // The file is written beside the answer, within milliseconds: nobody waits for a disk.
  await expect.poll(() => readFileSync(join(before.stateDir, 'line.json'), 'utf8')).toContain('ada-1');
  await before.kill();
  const after = await gate({}, before.stateDir);
  expect((await after.metrics()).get('tuneplane_gpu_runs_waiting')).toBe(1);
});
