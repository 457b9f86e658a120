import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LABEL } from '../../src/model/labels.js';
import { cardAt, defaultMachine } from '../../src/stand-in/machine/build-machine.js';
import type { StrangeAnswer } from '../support/docker/strange-docker.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { by } from '../support/metrics-page.js';
import { engineContainer, startFakeEngine, type FakeEngine, type Misbehave } from './fake-engine.js';

/**
 * A list that failed is never an empty one: whatever Docker does instead of answering it, no card is free, nobody is let in,
 * every page comes, and all is as it was when Docker answers again. Card 0 is held by a job, and card 5 is broken.
 */

/** For a list, its body included. */
const LIST_MS = 1000;

let docker: FakeEngine;
let gate: Gate;

beforeAll(async () => {
  docker = await startFakeEngine([
    engineContainer({ Names: ['/tuneplane-holder'], Labels: { [LABEL.runId]: 'holder', [LABEL.gpus]: '0' } }),
  ]);
  const machine = defaultMachine();
  cardAt(machine, 5).recovery_action = 'Reset';
  gate = await startGate({
    engine: docker,
    machine,

    heedsModes: true,
    settings: { TUNEPLANE_PROBE_TIMEOUT_S: String(LIST_MS / 1000), TUNEPLANE_SCRAPE_MAX_AGE_MS: '300' },
  });
});
afterEach(() => {
  docker.behave();
  docker.openAgain();
});
afterAll(async () => {
  await gate?.stop();
  await docker?.stop();
});

const states = async () => (await gate.cards()).cards.map(({ state }) => state).join(' ');
const ALL_WELL = 'job_held free free free free unhealthy free free';
const BLIND = 'unknown unknown unknown unknown unknown unhealthy unknown unknown';
const says = (status: number, body: string) => (): StrangeAnswer => ({ status, body });
const message = (status: number, words: string) => says(status, JSON.stringify({ message: words }));
const whole = () => JSON.stringify(docker.containers);

/** In place of every list; other questions are answered. */
const lists =
  (answer: () => StrangeAnswer | Promise<StrangeAnswer>): Misbehave =>
  (line) =>
    line.startsWith('GET /containers/json') ? answer() : null;

const misbehaviours: readonly (readonly [string, RegExp, () => void | Promise<void>])[] = [
  ['has no socket', /ENOENT .*no such socket/, () => docker.close('missing')],
  ['left a socket at which nobody listens', /ECONNREFUSED .*nobody listens/, () => docker.close('refused')],
  ['has a socket that the gate may not open', /EACCES .*the group `docker` may/, () => docker.close('forbidden')],
  ['accepts and never answers anything', /no complete answer within 1000 ms/, () => docker.misbehave(() => 'silence')],
  ['hangs up on everything', /broke off: socket hang up/, () => docker.misbehave(() => 'hang up')],
  [
    'answers half a list and stops',
    /no complete answer within 1000 ms/,
    () => docker.misbehave(lists(() => ({ half: '[{"Id":"a"},' }))),
  ],
  [
    'answers a list long after it was given up',
    /no complete answer within 1000 ms/,
    () => docker.misbehave(lists(() => sleep(LIST_MS + 500).then(says(200, '[]')))),
  ],
  ['lists null', /got "null"/, () => docker.misbehave(lists(says(200, 'null')))],
  ['lists a page of a proxy', /got "<html>"/, () => docker.misbehave(lists(says(200, '<html>')))],
  ['lists a null among the others', /expected a list/, () => docker.misbehave(lists(says(200, '[null]')))],
  [
    'lists one that has no id',
    /expected a list/,
    () => docker.misbehave(lists(says(200, whole().replace('"Id"', '"id"')))),
  ],
  ['answers a list with 204', /answered 204/, () => docker.misbehave(lists(says(204, '')))],
  ['sends a list elsewhere', /answered 307/, () => docker.misbehave(lists(says(307, '')))],
  [
    'speaks another version of its API',
    /400: client version 1.43 is too old/,
    () => docker.misbehave(() => message(400, 'client version 1.43 is too old. Minimum is 1.44')()),
  ],
  ['lists with a fault', /500: layer db/, () => docker.misbehave(lists(message(500, 'layer db')))],
  ['faults without a word', /answered 502/, () => docker.misbehave(() => says(502, '')())],
];

describe('a Docker that', () => {
  test.each(misbehaviours)('%s is not a Docker without containers', async (_says, words, misbehave) => {
    await expect.poll(states).toBe(ALL_WELL);
    const [lines, asked] = [linesLogged(), docker.requests.length];
    await misbehave();
    await expect.poll(states).toBe(BLIND);
    await showsItIsBlind(words);
    await refusesInTime(words);

    docker.behave();
    docker.openAgain();
    await expect.poll(states).toBe(ALL_WELL);
    expect(docker.requests.slice(asked).filter((line) => line.startsWith('POST'))).toEqual([]);
    // That it began, that it changed its words once or twice, and that it is over.
    expect(linesLogged() - lines).toBeLessThanOrEqual(6);
  });

  test('did all that has not kept the gate from its work', async () => {
    expect((await gate.post('/admit', jobToPost('after'))).body).toMatchObject({ decision: 'admitted' });
    expect(docker.containers.map(({ Names, State }) => `${Names[0]} ${State}`)).toEqual([
      '/tuneplane-holder running',
      '/tuneplane-after running',
    ]);
    docker.containers.pop();
    expect(gate.stderr()).not.toMatch(/"level":(?:50|60)/);
  });
});

describe('a claim', () => {
  /** Every list of all that live: those of looks, and the one after a create. */
  const isWholeList = (line: string) => line.startsWith('GET /containers/json') && line.includes('status');

  test.each<[string, Misbehave]>([
    ['whose run cannot be looked up', (line) => (line.includes('label') ? 'hang up' : null)],
    ['whose cards cannot be looked at', (line) => (isWholeList(line) ? 'hang up' : null)],
  ])('%s is not begun', async (_says, misbehave) => {
    docker.misbehave(misbehave);
    const answer = await gate.post('/admit', jobToPost('unseen'));
    expect(answer.status).toBe(503);
    expect(answer.body).toMatchObject({ code: 'docker_unavailable', retryable: true });
    expect(docker.containers).toHaveLength(1);
  });

  test.each<[string, () => StrangeAnswer]>([
    ['never comes', () => 'silence'],
    ['is null', says(200, 'null')],
    ['is a fault', message(500, 'layer db')],
    // It is no failure, but it does not show ours: what is not in the books is not started.
    ['does not hold it', says(200, '[]')],
  ])('is not started when the list after its create %s', async (_says, list) => {
    let created = false;
    docker.misbehave((line) => {
      if (line.startsWith('POST /containers/create')) created = true;
      return created && isWholeList(line) ? list() : null;
    });
    const before = starts();
    const answer = await gate.post('/admit', jobToPost('unseen'));
    expect([502, 503]).toContain(answer.status);
    expect(answer.body).toMatchObject({ retryable: true });
    expect(starts()).toBe(before);
    docker.behave();
    // What was created is either gone, or removed by whoever asks again.
    expect((await gate.post('/admit', jobToPost('unseen'))).body).toMatchObject({ decision: 'admitted', gpus: [1] });
    expect(docker.containers).toHaveLength(2);
    docker.containers.pop();
  });
});

const starts = () => docker.requests.filter((line) => line.endsWith('/start')).length;
const linesLogged = () => gate.stderr().split('\n').length;

async function showsItIsBlind(words: RegExp): Promise<void> {
  const { cards, counts, probes, explain } = await gate.cards();
  expect(probes.docker).toMatchObject({ ok: false, detail: expect.stringMatching(words) });
  expect(counts).toMatchObject({ free: 0, job_held: 0, external: 0, unhealthy: 1, unknown: 7 });
  expect(cards.every(({ held_by }) => held_by === null)).toBe(true);
  expect(explain).toMatch(/^8 cards, 0 free/);

  const pages = await Promise.all(Array.from({ length: 10 }, () => gate.metrics()));
  for (const page of pages) {
    expect(by(page, 'tuneplane_gpu_cards', 'state')).toMatchObject({ free: 0, job_held: 0, unknown: 7 });
    expect(page.get('tuneplane_gpu_probe_success{probe="docker"}')).toBe(0);
    expect(page.get('tuneplane_gpu_probe_success{probe="gpus"}')).toBe(1);
    expect(page.get('tuneplane_gpu_external_probe_ok')).toBe(1);
  }
  expect((await gate.get('/healthz')).status).toBe(200);
  expect((await gate.get('/readyz')).body).toMatchObject({ ready: false, parts: { runtime: { ok: false } } });
}

async function refusesInTime(words: RegExp): Promise<void> {
  const began = performance.now();
  const answers = await Promise.all([
    gate.post('/admit', jobToPost('one')),
    gate.post('/admit', jobToPost('none', 0)),
    gate.post('/admit', jobToPost('more', 9)),
    gate.post('/admit?dry_run=true', jobToPost('two')),
    gate.get('/runs'),
    gate.get('/runs/holder'),
    gate.call('/runs/holder', { method: 'DELETE' }),
  ]);
  for (const { status, body, headers } of answers) {
    expect(status).toBe(503);
    expect(body).toMatchObject({ code: 'docker_unavailable', retryable: true, detail: expect.stringMatching(words) });
    expect(headers['retry-after']).toBe('5');
  }
  expect(performance.now() - began).toBeLessThan(2 * LIST_MS + 1500);
}
