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
  const json = (body: object): StrangeAnswer => ({ status: 200, body: JSON.stringify(body) });
  const progress = (words: string): StrangeAnswer => ({
    status: 200,
    body: `{"status":"Pulling from x"}\n${JSON.stringify({ errorDetail: { message: words }, error: words })}\n`,
  });
  const pull =
    (answer: StrangeAnswer, inRegistry: StrangeAnswer = says(500, 'no answer from the registry')) =>
    (line: string) => {
      if (line.startsWith('GET /distribution/')) return inRegistry;
      if (line === 'GET /version') return json({ Version: '20.10.24', ApiVersion: '1.41', Os: 'linux', Arch: 'amd64' });
      return line.startsWith('GET') ? says(404, 'No such image') : answer;
    };
  const offers = (...Platforms: { os: string; architecture: string }[]) =>
    json({ Descriptor: { mediaType: 'application/vnd.oci.image.index.v1+json' }, Platforms });
  const arm = { os: 'linux', architecture: 'arm64' };
  const notFound = (words: RegExp) => ({ kind: 'not_found', daemonMessage: expect.stringMatching(words) as string });

  // As engines of 20.10, with graph drivers, and of 29, with containerd's store, say one and the same.
  test.each<[string, StrangeAnswer, StrangeAnswer | undefined, object]>([
    [
      'no image for this machine, in the middle of the progress',
      progress('no matching manifest for linux/amd64 in the manifest list entries'),
      offers(arm),
      notFound(/for this machine \(linux\/amd64\), only for linux\/arm64: no matching/),
    ],
    [
      'no image for this machine, as a failure of the engine',
      says(500, 'whatever it says'),
      offers(arm),
      notFound(/only for linux\/arm64/),
    ],
    [
      'no image for this machine, with a status',
      says(404, 'no match for platform in manifest: not found'),
      undefined,
      notFound(/no match/),
    ],
    [
      'an image of schema 1, in the middle of the progress',
      progress('mediaType in manifest should be …'),
      json({ Descriptor: { mediaType: 'application/vnd.docker.distribution.manifest.v1+prettyjws' }, Platforms: [] }),
      notFound(/schema 1/),
    ],
    [
      'an image of schema 1, with a status',
      says(400, 'Docker Image Format v1 and Docker Image manifest version 2, schema 1 support is disabled'),
      undefined,
      notFound(/schema 1/),
    ],
    [
      'an image of a kind that it does not implement',
      says(501, 'not implemented'),
      undefined,
      notFound(/not implemented/),
    ],
    [
      'a manifest that the registry does not have, in the middle of the progress',
      progress('gone'),
      says(404, 'gone'),
      notFound(/gone/),
    ],
    ['a repository that is not there', says(404, 'pull access denied for x'), undefined, notFound(/denied/)],
    [
      'a failure, though the registry has an image for this machine',
      progress('unexpected EOF'),
      offers(arm, { os: 'linux', architecture: 'amd64' }),
      { kind: 'failed', daemonMessage: 'unexpected EOF' },
    ],
    [
      'a failure, though the registry has one of 32 bits, which this machine runs',
      progress('unexpected EOF'),
      offers({ os: 'linux', architecture: '386' }),
      { kind: 'failed' },
    ],
    [
      'a failure of which the registry does not tell',
      progress('manifest unknown'),
      undefined,
      { kind: 'failed', daemonMessage: 'manifest unknown' },
    ],
    ['that somebody has no right to it', says(403, 'denied'), undefined, { kind: 'failed' }],
  ])('%s', async (_says, answer, inRegistry, expected) => {
    expect(await (await hands(pull(answer, inRegistry))).ensureImage('x:1', 5000)).toMatchObject(expected);
  });

  test.each([`sha256:${'a'.repeat(64)}`, 'b'.repeat(64)])('no registry is asked for the id %s', async (id) => {
    const { ensureImage } = await hands(pull('silence'));
    expect(await ensureImage(id, 5000)).toMatchObject(notFound(/no image with the id/));
    expect(strange.requests.filter((line) => !line.startsWith('GET /images/'))).toEqual([]);
  });

  test.each<[string, StrangeAnswer, object]>([
    [
      'that ends in an error is a failure, though its status was 200',
      progress('disk full'),
      { kind: 'failed', daemonMessage: 'disk full' },
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
    expect(await parsePullProgress(stream(), () => (heard += 1))).toEqual({ status: 200, words: 'broken' });
    expect(heard).toBe(3);
  });
});
