import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toDockerTrouble, inWords } from '../../src/docker/errors.js';
import { createDockerBooks } from '../../src/runtime/docker/books.js';
import { createScriptFolder, recordingLog, movableClock } from '../probe/nvidia-smi/program.js';
import { startStrangeDocker, type StrangeAnswer, type StrangeDocker } from '../support/docker/strange-docker.js';
import { eyesOnCards } from '../support/eyes-on-cards.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { by } from '../support/metrics-page.js';

/** Docker and nvidia-smi on a bad day. */

const message = (text: string): string => JSON.stringify({ message: text });
const TOO_OLD =
  'client version 1.43 is too old. Minimum supported API version is 1.44, please upgrade your client to a newer version';
const TOO_NEW = 'client version 1.60 is too new. Maximum supported API version is 1.52';

// O01, https://github.com/HariSekhon/Nagios-Plugins/issues/434
describe('Docker answered with errors and not with lists, and a careless catch made all cards free', () => {
  let docker: StrangeDocker;
  let gate: Gate;
  let answer: (list: string) => StrangeAnswer;
  const listing = (containers: object[]): StrangeAnswer => ({ status: 200, body: JSON.stringify(containers) });
  const held = {
    Id: 'aaa',
    Names: ['/train'],
    State: 'running',
    Created: 1_764_000_000,
    Labels: { 'tuneplane.gpus': '3', 'tuneplane.run_id': 'train' },
  };
  const well = (): StrangeAnswer => listing([held]);

  beforeAll(async () => {
    answer = well;
    docker = await startStrangeDocker((request) => {
      if (request.includes('/containers/json')) return answer(request);
      if (request.includes('/containers/aaa/json')) return { status: 200, body: '{"Config":{},"HostConfig":{}}' };
      return { status: 404, body: message('no such thing here') };
    });
    const settings = { TUNEPLANE_SCRAPE_MAX_AGE_MS: '0', TUNEPLANE_ADMIT_TIMEOUT_S: '2' };
    gate = await startGate({ engine: { dockerHost: `unix://${docker.socketPath}` }, settings });
    expect((await gate.cards()).counts).toMatchObject({ free: 7, job_held: 1 });
  });
  afterAll(async () => {
    await gate?.stop();
    await docker?.stop();
  });

  test.each<[string, StrangeAnswer, string]>([
    ['an API version that is too old', { status: 400, body: message(TOO_OLD) }, TOO_OLD],
    ['an API version that is too new', { status: 400, body: message(TOO_NEW) }, TOO_NEW],
    ['a body that is null', { status: 200, body: 'null' }, 'expected a list of containers'],
    ['a body that is an object', { status: 200, body: '{}' }, 'expected a list of containers'],
    ['a broken connection', 'hang up', 'Docker broke off'],
  ])(
    '%s: it is told, nobody gets a card, nothing held is shown as now, and it is over by itself',
    async (_says, bad, words) => {
      answer = () => bad;
      const page = await gate.metrics();
      expect(page.get('tuneplane_gpu_probe_success{probe="docker"}')).toBe(0);
      expect(by(page, 'tuneplane_gpu_cards', 'state')).toMatchObject({ free: 0, job_held: 0, unknown: 8 });
      expect([...page.keys()].filter((series) => series.includes('card_claims'))).toEqual([]);
      const ready = await gate.get('/readyz');
      expect(ready.status).toBe(503);
      expect(ready.text).toContain(words);
      const admit = await gate.post('/admit', jobToPost('next'));
      expect(admit.status).toBe(503);
      expect(admit.body).toMatchObject({ code: 'docker_unavailable', detail: expect.stringContaining(words) });
      answer = well;
      expect((await gate.cards()).counts).toMatchObject({ free: 7, job_held: 1 });
    },
  );

  test.each([
    ['EACCES', "the gate's user may not open the socket"],
    ['ENOENT', 'no such socket'],
    ['ECONNREFUSED', 'nobody listens there'],
  ])('a socket that says %s is unreachable, and what to do is said', (code, advice) => {
    const error = Object.assign(new Error(`connect ${code} /var/run/docker.sock`), { code, syscall: 'connect' });
    expect(toDockerTrouble(error)).toMatchObject({ kind: 'unreachable', code });
    expect(inWords(toDockerTrouble(error))).toContain(`connect ${code} /var/run/docker.sock (${advice}`);
  });

  test('asked every second for five minutes, it says the same trouble once a minute', async () => {
    const bad = await startStrangeDocker(() => ({ status: 400, body: message(TOO_OLD) }));
    const [clock, log] = [movableClock(), recordingLog()];
    const books = createDockerBooks({ docker: bad.docker, clock, log });
    for (let second = 0; second < 300; second += 1) {
      expect(await books.list()).toMatchObject({ kind: 'blind', why: 'unavailable' });
      clock.forward(1000);
    }
    await bad.stop();
    expect(log.sentences.length).toBeGreaterThanOrEqual(4);
    expect(log.sentences.length).toBeLessThanOrEqual(6);
  });
});

// O03, https://github.com/microsoft/pai/issues/5528
describe('nvidia-smi was stuck in the driver: it cannot be killed, and every later call gets stuck with it', () => {
  const programs = createScriptFolder();
  afterAll(() => programs.cleanUp());
  const eyesOn = (script: string, timeoutMs: number) =>
    eyesOnCards(programs.program(script), timeoutMs, timeoutMs + 1000);

  test('one child of a kind is all there ever is, and everybody else has an answer at once', async () => {
    // What it leaves behind escapes the kill and holds its output: not gone, as a process in the driver is not.
    const eyes = eyesOn(
      `echo "$1" >> "$LOG"\nsetsid sh -c 'until [ -e "'"$HERE"'/go" ]; do sleep 0.1; done' &\nexec sleep 3600`,
      300,
    );
    const first = await eyes.recent(0, 5000);
    expect(first.gpus).toMatchObject({ kind: 'blind', why: 'timeout' });
    for (let poll = 0; poll < 40; poll += 1) {
      const began = performance.now();
      const look = await eyes.recent(0, 5000);
      expect(performance.now() - began).toBeLessThan(1500);
      expect(look.gpus).toMatchObject({ kind: 'blind', why: 'overlap' });
      expect(look.processes).toMatchObject({ kind: 'blind', why: 'overlap' });
    }
    const kinds = programs.notes().map((line) => line.replace(/=.*$/, ''));
    expect(kinds.toSorted()).toEqual(['--query-compute-apps', '--query-gpu']);
  });

  test('one that is slow and well either works within the limit or fails as a whole', async () => {
    const slow = `case "$1" in --query-gpu=*) sleep 3; echo '0, GPU-00000001-0000-4000-8000-000000000001, x' ;; esac`;
    const [short, long] = [eyesOn(slow, 500), eyesOn(slow, 15_000)];
    const [cut, whole] = await Promise.all([short.fresh(), long.fresh()]);
    expect(cut.gpus).toMatchObject({ kind: 'blind', why: 'timeout' });
    expect(whole.gpus).toMatchObject({ kind: 'seen', value: { rows: [{ index: 0 }] } });
    await sleep(100);
    expect((await long.fresh()).gpus.kind).toBe('seen');
  });
});
