import { afterAll, beforeAll, expect, test } from 'vitest';
import { cardAt, defaultMachine } from '../../src/stand-in/machine/build-machine.js';
import type { Answer } from '../support/call.js';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { by, seriesName } from '../support/metrics-page.js';
import { makeTokens } from '../support/tokens.js';

/**
 * An operator takes cards out, puts them back and forgets one that was pulled, while a console runs jobs. One story, told in
 * order: each test goes on where the one before it ended. Card 3 is out by the settings.
 */

const tokens = makeTokens({ ops: 'operate,read', console: 'admit,read', cleaner: 'release,read', reader: 'read' });
const settings = {
  TUNEPLANE_TOKENS_FILE: tokens.path,
  TUNEPLANE_EXCLUDE_CARDS: '3',
  TUNEPLANE_SCRAPE_MAX_AGE_MS: '0',
};
const machine = defaultMachine();
const uuidOf = (index: number) => cardAt(machine, index).uuid;
const NONE = { free: 0, job_held: 0, external: 0, unhealthy: 0, excluded: 0, unknown: 0 };

let engine: Engine;
let gate: Gate;

beforeAll(async () => {
  engine = await startEngine();
  gate = await startGate({ engine, settings, token: tokens.of('ops') });
});
afterAll(async () => {
  await gate?.stop();
  await engine?.stop();
});

const act = (index: number, action: string, body?: unknown) => gate.post(`/cards/${uuidOf(index)}/${action}`, body);
const admit = (runId: string, count: number, query = '') =>
  gate.post(`/admit${query}`, jobToPost(runId, count, { ulimits: { memlock: 65536 } }), tokens.as('console'));
const stateOf = async (index: number) => (await gate.cards()).cards.find(({ uuid }) => uuid === uuidOf(index))?.state;

async function restart(change = machine): Promise<void> {
  const { stateDir } = gate;
  expect(await gate.stop()).toEqual({ code: 0, signal: null });
  gate = await startGate({ engine, settings, stateDir, machine: change, token: tokens.of('ops') });
}

test('a card named in TUNEPLANE_EXCLUDE_CARDS is out from the start, and says by whose word', async () => {
  const { cards, counts, explain } = await gate.cards();
  expect(counts).toEqual({ ...NONE, free: 7, excluded: 1 });
  expect(cards[3]).toMatchObject({ state: 'excluded', excluded: { by: 'settings', since: null } });
  expect(explain).toContain('TUNEPLANE_EXCLUDE_CARDS names 3');
});

test('a card taken out under a running job leaves the job alone, and its exclusion stands beside it', async () => {
  expect((await admit('train-1', 2)).body).toMatchObject({ decision: 'admitted', gpus: [0, 1] });
  const began = new Date().toISOString();
  const answer = await act(0, 'exclude', { reason: 'fan rattles' });
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({
    uuid: uuidOf(0),
    state: 'job_held',
    excluded: { by: 'operator', reason: 'fan rattles' },
  });
  expect((answer.body as { excluded: { since: string } }).excluded.since >= began).toBe(true);
  expect((await engine.docker.getContainer('tuneplane-train-1').inspect()).State.Running).toBe(true);
});

test('a free card taken out is excluded on every page, and nobody gets it', async () => {
  expect((await act(2, 'exclude', { reason: 'for a test bench' })).body).toMatchObject({ state: 'excluded' });
  expect((await gate.cards()).counts).toEqual({ ...NONE, job_held: 2, excluded: 2, free: 4 });
  const page = await gate.metrics();
  expect(by(page, 'tuneplane_gpu_cards', 'state')).toEqual({ ...NONE, job_held: 2, excluded: 2, free: 4 });
  const excluded = (index: number) =>
    page.get(seriesName('tuneplane_gpu_card_state', { uuid: uuidOf(index), index: String(index), state: 'excluded' }));
  expect([0, 2, 3].map(excluded)).toEqual([0, 1, 1]);
  expect((await admit('would', 4, '?dry_run=true')).body).toMatchObject({
    decision: 'would_admit',
    gpus: [4, 5, 6, 7],
  });
});

test('the use of the cards is counted by whoever asked for the job', async () => {
  const used = async () =>
    by(await gate.metrics(), 'tuneplane_gpu_held_card_seconds_total', 'principal')['console'] ?? 0;
  const before = await used();
  await expect.poll(used).toBeGreaterThan(before);
});

test('a request fits later up to the cards that are not out, held ones counted, and never above', async () => {
  const later = await admit('five', 5);
  expect(later.status).toBe(200);
  expect(later.body).toMatchObject({
    decision: 'wait',
    free: 4,
    reasons: [
      { code: 'job_held', cards: [0, 1] },
      { code: 'excluded', cards: [2, 3] },
    ],
  });
  const never = await admit('six', 6);
  expect(never.status).toBe(422);
  expect(never.body).toMatchObject({ code: 'unsatisfiable', retryable: false });
  expect((never.body as { detail: string }).detail).toContain('5 cards');
});

test.each<[string, 'console' | 'cleaner' | 'reader']>([
  ['admit', 'console'],
  ['release', 'cleaner'],
  ['read', 'reader'],
])('with the role %s alone nobody takes a card out, back, or off the books', async (_role, name) => {
  for (const action of ['exclude', 'include', 'forget']) {
    const answer = await gate.post(`/cards/${uuidOf(4)}/${action}`, { reason: 'mine' }, tokens.as(name));
    expect(answer.status).toBe(403);
    expect(answer.body).toMatchObject({ code: 'forbidden', retryable: false });
  }
  expect(await stateOf(4)).toBe('free');
  expect((await gate.get('/cards', tokens.as(name))).status).toBe(200);
});

test('an operator starts nothing, and removes what has ended; a cleaner has no say about the runs of others', async () => {
  expect((await gate.post('/admit', jobToPost('mine'))).body).toMatchObject({ code: 'forbidden' });
  const remove = (name: 'ops' | 'console' | 'cleaner') =>
    gate.call('/runs/train-1', { method: 'DELETE', headers: tokens.as(name) });
  expect((await remove('console')).status).toBe(403);
  expect((await remove('cleaner')).status).toBe(403);
  const alive = await remove('ops');
  expect([alive.status, alive.body]).toMatchObject([409, { code: 'run_alive' }]);
});

test('what is asked wrongly of a card is refused, and changes nothing', async () => {
  const refused = (answer: Answer) => [answer.status, (answer.body as { code: string }).code];
  expect(refused(await act(4, 'exclude'))).toEqual([415, 'unsupported_media_type']);
  expect(refused(await act(4, 'exclude', {}))).toEqual([400, 'invalid_request']);
  expect(refused(await act(4, 'exclude', { reason: ' ' }))).toEqual([400, 'invalid_request']);
  expect(refused(await act(4, 'exclude', { reason: 'x', until: 'noon' }))).toEqual([400, 'invalid_request']);
  expect(refused(await gate.post('/cards/GPU-none/exclude', { reason: 'x' }))).toEqual([404, 'not_found']);
  expect(refused(await gate.post('/cards/4/exclude', { reason: 'x' }))).toEqual([404, 'not_found']);
  expect(refused(await act(4, 'forget'))).toEqual([409, 'card_present']);
  const got = await gate.get(`/cards/${uuidOf(4)}/exclude`);
  expect([...refused(got), got.headers['allow']]).toEqual([405, 'method_not_allowed', 'POST']);
  expect(await stateOf(4)).toBe('free');
});

test('the exclusions stand over a restart, with their reasons', async () => {
  const before = (await gate.cards()).cards.map(({ excluded }) => excluded);
  await restart();
  const { cards, counts } = await gate.cards();
  expect(counts).toEqual({ ...NONE, job_held: 2, excluded: 2, free: 4 });
  expect(cards.map(({ excluded }) => excluded)).toEqual(before);
  expect(before[2]).toMatchObject({ by: 'operator', reason: 'for a test bench' });
});

test('when the job has ended, the card that was taken out under it is out, and the other is free', async () => {
  const container = engine.docker.getContainer('tuneplane-train-1');
  await container.kill();
  await container.wait();
  await expect.poll(() => stateOf(1)).toBe('free');
  expect(await stateOf(0)).toBe('excluded');
});

test('a card put back is free, unless the settings keep it out; twice is no mistake', async () => {
  expect((await act(0, 'include')).body).toMatchObject({ state: 'free', excluded: null });
  expect((await act(0, 'include')).body).toMatchObject({ state: 'free', excluded: null });
  expect((await act(3, 'include')).body).toMatchObject({ state: 'excluded', excluded: { by: 'settings' } });
  expect((await act(3, 'exclude', { reason: 'both' })).body).toMatchObject({ excluded: { by: 'operator' } });
  expect((await act(3, 'include')).body).toMatchObject({ excluded: { by: 'settings' } });
});

test('a card taken out until a time keeps it over a restart, with the name, and comes back by itself then', async () => {
  const hours = new Date(Date.now() + 7_200_000).toISOString();
  expect((await act(4, 'exclude', { reason: 'burn-in', until: hours })).body).toMatchObject({ state: 'excluded' });
  await restart();
  const { cards, explain } = await gate.cards();
  expect(cards[4]?.excluded).toMatchObject({ by: 'operator', principal: 'ops', until: hours });
  expect(explain).toContain(`burn-in, by ops until ${hours}`);

  const soon = new Date(Date.now() + 5000).toISOString();
  expect((await act(4, 'exclude', { reason: 'burn-in', until: soon })).status).toBe(200);
  await expect.poll(() => stateOf(4), { timeout: 30_000 }).toBe('free');
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(soon));
  const said = () => gate.stderr().match(/the exclusion of GPU-\S+ by ops has ended/g);
  expect(said()).toHaveLength(1);
  await restart();
  expect(await stateOf(4)).toBe('free');
  expect(said()).toBeNull();
});

test('a card that was taken out and pulled is forgotten for good; the others stay', async () => {
  const smaller = defaultMachine();
  cardAt(smaller, 6).fault = { kind: 'gone' };
  expect((await act(6, 'exclude', { reason: 'goes back to the vendor' })).status).toBe(200);
  gate.setMachine(smaller);
  expect(await stateOf(6)).toBe('excluded');
  expect((await act(6, 'forget')).status).toBe(204);
  expect(await stateOf(6)).toBeUndefined();
  await restart(smaller);
  expect(await stateOf(6)).toBeUndefined();
  expect(await stateOf(2)).toBe('excluded');
  expect((await gate.cards()).cards).toHaveLength(7);
});

test('each of these words is in the audit, with who said it', async () => {
  expect((await act(5, 'exclude', { reason: 'last one' })).status).toBe(200);
  expect((await act(5, 'include')).status).toBe(200);
  const denied = await gate.post(`/cards/${uuidOf(5)}/exclude`, { reason: 'mine' }, tokens.as('reader'));
  expect(denied.status).toBe(403);
  const said = () => gate.audit().map(({ audit, outcome, principal, cards }) => [audit, outcome, principal, cards]);
  await expect.poll(said).toEqual([
    ['exclude', 'excluded', 'ops', [uuidOf(5)]],
    ['include', 'included', 'ops', [uuidOf(5)]],
    ['exclude', 'forbidden', 'reader', []],
  ]);
});

test('a token whose line is taken out of the file is refused at the next request, without a restart', async () => {
  expect((await gate.get('/cards', tokens.as('reader'))).status).toBe(200);
  tokens.revoke('reader');
  await expect.poll(async () => (await gate.get('/cards', tokens.as('reader'))).status).toBe(401);
  expect((await gate.get('/cards')).status).toBe(200);
});
