import { afterEach, describe, expect, test } from 'vitest';
import { createDockerHands } from '../../../src/runtime/docker/hands.js';
import { parsePullProgress } from '../../../src/runtime/docker/pull-progress.js';
import { systemClock } from '../../../src/time/system-clock.js';
import { startStrangeDocker, type StrangeAnswer, type StrangeDocker } from '../../support/docker/strange-docker.js';
import { grantOf, job, listeningLog, plainRequest } from '../../support/jobs.js';

let strange: StrangeDocker;
afterEach(() => strange.stop());

/** Hands on an engine that answers so to everything, or as told. */
async function hands(answer: StrangeAnswer | ((request: string) => StrangeAnswer)) {
  strange = await startStrangeDocker(typeof answer === 'function' ? answer : () => answer);
  return createDockerHands({
    docker: strange.docker,
    clock: systemClock,
    log: listeningLog(),
    findAuth: async () => ({ kind: 'anonymous' }),
    limits: { create: 300, start: 300, look: 300, remove: 600, imageInspect: 300, pullStall: 300 },
  });
}
const says = (status: number, message: string): StrangeAnswer => ({ status, body: JSON.stringify({ message }) });
const inDoubt = { kind: 'in_doubt' };

describe('an answer to a create', () => {
  test.each<[string, StrangeAnswer, object]>([
    ['with an id is a container', { status: 201, body: '{"Id":"abc"}' }, { kind: 'created', id: 'abc' }],
    ['without an id is in doubt', { status: 201, body: 'null' }, inDoubt],
    ['cut short is in doubt', { cut: '{"Id":"ab' }, inDoubt],
    ['that never comes is in doubt', 'silence', inDoubt],
    ['that is a hang-up is in doubt', 'hang up', inDoubt],
    [
      '404 for the image says so',
      says(404, 'No such image: x'),
      { kind: 'image_gone', daemonMessage: 'No such image: x' },
    ],
    ['404 for something else is a refusal', says(404, 'no such volume'), { kind: 'refused' }],
    [
      '409 for the name says so',
      says(409, 'Conflict. The container name "/x" is already in use'),
      { kind: 'name_taken' },
    ],
    ['400 is a refusal', says(400, 'bad mount'), { kind: 'refused', daemonMessage: 'bad mount' }],
    ['500 is a failure', says(500, 'disk full'), { kind: 'failed', daemonMessage: 'disk full' }],
  ])('%s', async (_says, answer, expected) => {
    expect(await (await hands(answer)).create(job('x', plainRequest('x')), grantOf(0))).toMatchObject(expected);
  });
});

describe('an answer to a start', () => {
  test.each<[string, StrangeAnswer, object]>([
    ['204 is a start', { status: 204, body: '' }, { kind: 'started' }],
    ['304 is a start', { status: 304, body: '' }, { kind: 'started' }],
    ['404 is gone', says(404, 'No such container: abc'), { kind: 'gone' }],
    ['404 for a network is a refusal', says(404, 'network x not found'), { kind: 'refused' }],
    ['409 is gone', says(409, 'container is marked for removal and cannot be started'), { kind: 'gone' }],
    ['400 is a refusal', says(400, 'executable file not found'), { kind: 'refused' }],
    ['500 is a failure', says(500, 'could not select device driver'), { kind: 'failed' }],
    ['that never comes is in doubt', 'silence', inDoubt],
  ])('%s', async (_says, answer, expected) => {
    expect(await (await hands(answer)).start('abc')).toMatchObject(expected);
  });
});

/** A list of one created container for every look, and so to everything else. */
const created = JSON.stringify([{ Id: 'abc', Names: ['/tuneplane-x'], State: 'created', Created: 1, Labels: {} }]);
const afterALook = (answer: () => StrangeAnswer) => (request: string) =>
  request.startsWith('GET /containers/json') ? { status: 200, body: created } : answer();

describe('an answer to a removal', () => {
  test.each<[string, StrangeAnswer, object]>([
    ['204 is done', { status: 204, body: '' }, { kind: 'removed' }],
    ['404 is gone', says(404, 'No such container: abc'), { kind: 'gone' }],
    ['409 is a live one', says(409, 'You cannot remove a running container'), { kind: 'left', state: 'running' }],
    ['500 is in doubt', says(500, 'device busy'), inDoubt],
    [
      '409 for a removal that never ends is in doubt',
      says(409, 'removal of container abc is already in progress'),
      inDoubt,
    ],
  ])('%s', async (_says, answer, expected) => {
    expect(await (await hands(afterALook(() => answer))).remove('abc', 'created')).toMatchObject(expected);
  });

  test('is waited for when somebody else removes it', async () => {
    let asked = 0;
    const answer = () => {
      asked += 1;
      return asked < 3 ? says(409, 'removal already in progress') : says(404, 'No such container');
    };
    expect(await (await hands(afterALook(answer))).remove('abc', 'created')).toEqual({ kind: 'gone' });
  });

  test('never asks for force', async () => {
    await (await hands(afterALook(() => ({ status: 204, body: '' })))).remove('abc', 'created');
    expect(strange.requests).toEqual([
      expect.stringMatching(/^GET \/containers\/json\?all=true&filters=.*abc/),
      'DELETE /containers/abc?v=true',
    ]);
  });

  test.each<[string, StrangeAnswer]>([
    ['says 500', says(500, 'database is locked')],
    ['is no list', { status: 200, body: '{}' }],
    ['never comes', 'silence'],
  ])('is not asked for where the look before it %s', async (_says, answer) => {
    expect(await (await hands(answer)).remove('abc', 'created')).toMatchObject(inDoubt);
    expect(strange.requests).toHaveLength(1);
  });
});

describe('an answer to a pull', () => {
  const pull = (answer: StrangeAnswer) => (line: string) =>
    line.startsWith('GET') ? says(404, 'No such image') : answer;

  test.each<[string, StrangeAnswer, object]>([
    [
      'that ends in an error is a failure, though its status was 200',
      { status: 200, body: '{"status":"Pulling"}\n{"errorDetail":{"message":"disk full"},"error":"disk full"}\n' },
      { kind: 'failed', daemonMessage: 'disk full' },
    ],
    [
      'of a manifest that is not known is not found',
      { status: 200, body: '{"error":"manifest for x:1 not found: manifest unknown"}' },
      { kind: 'not_found' },
    ],
    [
      'of a repository that is not there is not found',
      says(404, 'pull access denied for x, repository does not exist or may require docker login'),
      { kind: 'not_found' },
    ],
    ['that ends well without the image is a failure', { status: 200, body: '{"status":"done"}\n' }, { kind: 'failed' }],
    ['that is cut short is unavailable', { cut: '{"status":"Pulling"}\n' }, { kind: 'unavailable' }],
    [
      'that stops coming is a failure',
      { half: '{"status":"Pulling"}\n' },
      { kind: 'failed', daemonMessage: 'no progress for 0.3 s' },
    ],
    ['that never comes is a failure', 'silence', { kind: 'failed', daemonMessage: 'no progress for 0.3 s' }],
  ])('%s', async (_says, answer, expected) => {
    expect(await (await hands(pull(answer))).ensureImage('x:1', 5000)).toMatchObject(expected);
  });

  test('may come in any pieces', async () => {
    await hands('silence');
    const pieces = ['{"status":"a"}\n{"err', 'or":"bro', 'ken"}\r\n{"status":"b"}'].map((piece) => Buffer.from(piece));
    async function* stream() {
      yield* pieces;
    }
    let heard = 0;
    expect(await parsePullProgress(stream(), () => (heard += 1))).toBe('broken');
    expect(heard).toBe(3);
  });
});
