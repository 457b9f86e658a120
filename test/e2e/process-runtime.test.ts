import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { specSha256 } from '../../src/admit/spec-hash.js';
import { startGate, type Gate, type GateOptions } from '../support/gate.js';
import { grantOf, job, plainRequest } from '../support/jobs.js';
import { by } from '../support/metrics-page.js';
import { claimsIn, endJob, newClaimsFolder, processRuntime } from '../support/process-jobs.js';

/** The real gate with the process runtime, on a machine where nothing answers as Docker. */

let gates: Gate[] = [];
afterEach(async () => {
  await Promise.all(gates.map((gate) => gate.kill()));
  gates = [];
});

async function gateOn(claims: string, options: GateOptions = {}): Promise<Gate> {
  const settings = { TUNEPLANE_RUNTIME: 'process', TUNEPLANE_CLAIMS_DIR: claims, TUNEPLANE_SCRAPE_MAX_AGE_MS: '0' };
  const gate = await startGate({ ...options, settings: { ...settings, ...options.settings } });
  gates.push(gate);
  return gate;
}

interface Said {
  readonly decision?: string;
  readonly replayed?: boolean;
  readonly gpus?: readonly number[];
  readonly run?: { readonly container_id: string; readonly state: string; readonly exit_code?: number };
}

const body = (runId: string, count = 1, command: readonly string[] = ['/bin/sleep', '600']) => ({
  run_id: runId,
  count,
  container: { command },
});

async function admit(gate: Gate, ...job: Parameters<typeof body>): Promise<Said & { readonly status: number }> {
  const { status, body: said } = await gate.post('/admit', body(...job));
  return { status, ...(said as Said) };
}

const idOf = (said: Said): string => said.run?.container_id ?? '';
const heldIndices = async (gate: Gate) =>
  (await gate.cards()).cards.filter(({ state }) => state === 'job_held').map(({ index }) => index);

test('a job is started on its cards, shown, waited for by others, and removed once it has ended', async () => {
  const claims = newClaimsFolder();
  const gate = await gateOn(claims);
  const script = 'echo "on $CUDA_VISIBLE_DEVICES"; read -r go < "$0" || :; exit 3';
  const started = await admit(gate, 'train', 2, ['/bin/sh', '-c', `${script}; `, '/dev/null']);
  expect(started).toMatchObject({ status: 201, decision: 'admitted', gpus: [0, 1] });
  const [claim] = claimsIn(claims);
  await expect.poll(() => readFileSync(`${claim!.prefix}.exit`, 'utf8')).toBe('3\n');
  const { cards } = await gate.cards();
  expect(readFileSync(`${claim!.prefix}.output`, 'utf8')).toBe(`on ${cards[0]!.uuid},${cards[1]!.uuid}\n`);
  await expect.poll(async () => (await gate.get('/runs/train')).body).toMatchObject({ state: 'exited', exit_code: 3 });

  const long = await admit(gate, 'long', 7);
  expect(long).toMatchObject({ status: 201, decision: 'admitted' });
  expect(await heldIndices(gate)).toEqual(long.gpus);
  expect(await admit(gate, 'long', 7)).toMatchObject({ status: 200, decision: 'admitted', replayed: true });
  expect((await gate.post('/admit', body('long', 6))).body).toMatchObject({ code: 'run_id_reused' });
  expect(await admit(gate, 'next', 2)).toMatchObject({ status: 200, decision: 'wait' });
  expect((await gate.call('/runs/long', { method: 'DELETE' })).status).toBe(409);
  await endJob(claims, idOf(long));
  await expect.poll(async () => (await admit(gate, 'long', 7)).decision).toBe('ended');
  expect(await admit(gate, 'long', 7)).toMatchObject({ run: { state: 'exited', exit_code: 143 } });
  expect((await gate.call('/runs/long', { method: 'DELETE' })).status).toBe(204);
  expect((await gate.get('/runs/long')).status).toBe(404);
  expect(readdirSync(claims)).toEqual(['tuneplane-train']);
});

test('Docker is not asked for, the start says whose user the jobs have, and what needs Docker is refused', async () => {
  const claims = newClaimsFolder();
  const gate = await gateOn(claims);
  expect((await gate.get('/readyz')).body).toMatchObject({ ready: true, parts: { runtime: { ok: true } } });
  expect(by(await gate.metrics(), 'tuneplane_gpu_probe_success', 'probe')).toMatchObject({ docker: 1, gpus: 1 });
  expect(gate.stderr()).toMatch(/"level":"?(?:warn|40)"?.*plain processes of the user \w+, without isolation/);
  expect(gate.stderr()).not.toMatch(/Docker/);

  const container = { command: ['/bin/true'], image: 'train:1' };
  expect((await gate.post('/admit', { ...body('a'), container })).body).toMatchObject({
    code: 'invalid_request',
    errors: [{ pointer: '/container/image', detail: expect.stringContaining('image needs Docker') }],
  });
  const missing = await gate.post('/admit', body('b', 1, ['no-such-program']));
  expect([missing.status, missing.body]).toMatchObject([
    422,
    { code: 'container_refused', daemon_message: expect.stringContaining('no-such-program') },
  ]);
  const env = { CUDA_VISIBLE_DEVICES: '0' };
  expect((await gate.post('/admit', { ...body('c'), container: { command: ['/bin/true'], env } })).status).toBe(403);
  expect(readdirSync(claims)).toEqual([]);
});

test('claim files that cannot be read make every card unknown, and nobody is admitted', async () => {
  const claims = newClaimsFolder();
  const gate = await gateOn(claims);
  await admit(gate, 'train');
  await endJob(claims, claimsIn(claims)[0]!.id);
  rmSync(claims, { recursive: true });
  expect((await gate.cards()).counts).toMatchObject({ unknown: 8, free: 0 });
  expect((await gate.get('/readyz')).body).toMatchObject({
    ready: false,
    parts: { runtime: { ok: false, detail: expect.stringContaining(`the claim files in ${claims}`) } },
  });
  expect(await gate.post('/admit', body('next'))).toMatchObject({ status: 503, body: { code: 'docker_unavailable' } });
});

describe('a gate that was killed', () => {
  test('finds its job running when it starts again, and how one ended meanwhile', async () => {
    const claims = newClaimsFolder();
    const first = await gateOn(claims);
    const [train, other] = [await admit(first, 'train', 2), await admit(first, 'other')];
    await first.kill();
    await endJob(claims, idOf(other));
    const again = await gateOn(claims, { stateDir: first.stateDir });
    expect(await heldIndices(again)).toEqual(train.gpus);
    expect(await admit(again, 'train', 2)).toMatchObject({ replayed: true, run: { container_id: idOf(train) } });
    expect((await again.get('/runs/other')).body).toMatchObject({ state: 'exited', exit_code: 143 });
    await endJob(claims, idOf(train));
    await expect.poll(() => heldIndices(again)).toEqual([]);
  });

  test('between create and start leaves a claim that nobody starts: it is removed, asked for or not', async () => {
    const claims = newClaimsFolder();
    const left = await createdOnly(claims, 'train', 0);
    const gate = await gateOn(claims, { settings: { TUNEPLANE_CLAIM_GRACE_S: '8' } });
    const started = await admit(gate, 'train');
    expect(started).toMatchObject({ status: 201, replayed: false, gpus: [0] });
    expect(idOf(started)).not.toBe(left);
    expect(claimsIn(claims)).toMatchObject([{ id: idOf(started), standing: { kind: 'run' } }]);

    await createdOnly(claims, 'nobody-asks', 1);
    await expect.poll(() => readdirSync(claims), { timeout: 30_000 }).toEqual(['tuneplane-train']);
    expect(await heldIndices(gate)).toEqual([0]);
  });

  test('at any moment costs no job and starts none twice', async () => {
    const [claims, proof] = [newClaimsFolder(), newClaimsFolder()];
    const command = ['/bin/sh', '-c', `echo "$$" >> ${proof}/$TUNEPLANE_RUN_ID; exec /bin/sleep 600`];
    const runs = Array.from({ length: 8 }, (_, at) => `train-${at}`);
    const first = await gateOn(claims);
    const answers = runs.map((run) => admit(first, run, 1, command).catch(() => null));
    // In the middle of it: some are created, and maybe some have been started.
    await expect.poll(() => claimsIn(claims).length, { interval: 1 }).toBeGreaterThan(2);
    await first.kill();
    await Promise.all(answers);
    const again = await gateOn(claims, { stateDir: first.stateDir });
    await expect
      .poll(() => Promise.all(runs.map(async (run) => (await admit(again, run, 1, command)).decision)))
      .toEqual(runs.map(() => 'admitted'));
    expect(await heldIndices(again)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    await expect.poll(() => readdirSync(proof).length).toBe(8);
    for (const run of runs) expect(readFileSync(join(proof, run), 'utf8')).toMatch(/^\d+\n$/);
  });
});

test('two gates that share nothing but the claims start a run once, and never two jobs on one card', async () => {
  const claims = newClaimsFolder();
  const two = await Promise.all([gateOn(claims), gateOn(claims)]);
  const both = await Promise.all(two.map((gate) => admit(gate, 'train')));
  expect(both.map(({ decision }) => decision)).toEqual(['admitted', 'admitted']);
  expect(new Set(both.map(idOf)).size).toBe(1);
  expect(claimsIn(claims)).toHaveLength(1);

  const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => admit(two[at % 2]!, `job-${at}`)));
  const admitted = [both[0]!, ...answers.filter(({ decision }) => decision === 'admitted')];
  for (const { decision } of answers) expect(['admitted', 'wait']).toContain(decision);
  expect(admitted.length).toBeGreaterThan(1);
  const given = admitted.flatMap(({ gpus }) => gpus ?? []);
  expect(new Set(given).size).toBe(admitted.length);
  expect(claimsIn(claims).map(({ standing }) => standing.kind)).toEqual(admitted.map(() => 'run'));
  for (const gate of two) expect(await heldIndices(gate)).toEqual(given.toSorted((a, b) => a - b));
});

/** What a gate leaves that dies after its create: a claim on one card, by index alone. */
async function createdOnly(claims: string, runId: string, index: number): Promise<string> {
  const { hands } = await processRuntime(claims);
  const request = plainRequest('', { command: ['/bin/sleep', '600'] });
  const spec = { ...job(runId, request, 1), specSha256: specSha256(body(runId)) };
  const [card] = grantOf(index).cards;
  const grant = { ...grantOf(index), cards: [{ ...card!, uuid: null }], admittedAt: new Date().toISOString() };
  const made = await hands.create(spec, grant);
  if (made.kind !== 'created') throw new Error(`expected "created", got ${JSON.stringify(made)}`);
  expect(claimsIn(claims)).toContainEqual(expect.objectContaining({ id: made.id, standing: { kind: 'created' } }));
  return made.id;
}
