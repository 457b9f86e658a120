import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createImages } from '../../../src/runtime/docker/images.js';
import { createFindAuth } from '../../../src/runtime/docker/registry-auth.js';
import { systemClock } from '../../../src/time/system-clock.js';
import { startEngine, type Engine } from '../../support/docker/engine.js';
import { LOGIN, startRegistry, type Registry, type RegistryOptions } from '../../support/docker/registry.js';
import { listeningLog } from '../../support/jobs.js';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const WAIT_MS = 20_000;

/** The gate's pulls, with this text as its `config.json`. */
function pulls(config: object, limits: { stallMs?: number; mostPulls?: number } = {}) {
  const path = join(engine.folder, 'config.json');
  writeFileSync(path, JSON.stringify(config));
  const images = createImages({
    docker: engine.docker,
    clock: systemClock,
    log: listeningLog(),
    findAuth: createFindAuth({ path, explicit: true }),
    ...limits,
  });
  return images.ensure;
}

const loginFor = (host: string, password = LOGIN.password) => ({
  auths: { [host]: { auth: Buffer.from(`${LOGIN.username}:${password}`).toString('base64') } },
});

const both: readonly RegistryOptions[] = [{}, { program: 'stand-in' }];
describe.each(both)('from a registry ($program)', (which) => {
  let registry: Registry;
  beforeAll(async () => {
    registry = await startRegistry(engine, { ...which, login: true });
  });
  afterAll(() => registry.stop());
  afterEach(() => registry.release());

  test('an image that is here is present, and no registry is asked', async () => {
    const before = registry.requests.length;
    expect(await pulls({})(engine.image, WAIT_MS)).toEqual({ kind: 'present' });
    expect(registry.requests.length).toBe(before);
  });

  test('an image is pulled with the credentials for its registry', async () => {
    const image = await registry.push('train/one');
    expect(await pulls(loginFor(registry.host))(image, WAIT_MS)).toEqual({ kind: 'present' });
    expect(await engine.docker.getImage(image).inspect()).toHaveProperty('Id');
  });

  test('a digest is pulled as written', async () => {
    const image = await registry.push('train/digest');
    const ensure = pulls(loginFor(registry.host));
    await ensure(image, WAIT_MS);
    const [byDigest = ''] = (await engine.docker.getImage(image).inspect()).RepoDigests;
    await engine.docker.getImage(image).remove();
    expect(byDigest).toContain('@sha256:');
    expect(await ensure(byDigest, WAIT_MS)).toEqual({ kind: 'present' });
  });

  test('a wrong password fails in the words of the registry', async () => {
    const image = await registry.push('train/two');
    const answer = await pulls(loginFor(registry.host, 'guess'))(image, WAIT_MS);
    expect(answer).toEqual({ kind: 'failed', daemonMessage: expect.stringMatching(/unauthorized/i) });
  });

  test('no credentials at all fail in the words of the engine', async () => {
    const image = await registry.push('train/three');
    const answer = await pulls({})(image, WAIT_MS);
    expect(answer).toEqual({ kind: 'failed', daemonMessage: expect.stringMatching(/no basic auth credentials/i) });
  });

  test('an image that the registry does not have is not found', async () => {
    const answer = await pulls(loginFor(registry.host))(`${registry.host}/train/nothing:1`, WAIT_MS);
    expect(answer).toEqual({ kind: 'not_found', daemonMessage: expect.stringMatching(/manifest.* unknown/i) });
  });

  test('an image for other machines alone is not found, and it is said for which', async () => {
    const image = await registry.pushForOthers('train/others');
    const answer = await pulls(loginFor(registry.host))(image, WAIT_MS);
    expect(answer).toEqual({
      kind: 'not_found',
      daemonMessage: expect.stringMatching(/only for linux\/s390x|no match/),
    });
  });

  test('a slow pull says `pulling`, goes on by itself, and is one pull however many ask', async () => {
    const image = await registry.push('train/slow');
    const ensure = pulls(loginFor(registry.host));
    const before = registry.requests.length;
    registry.hold();
    expect(await Promise.all([ensure(image, 200), ensure(image, 200), ensure(image, 200)])).toEqual([
      { kind: 'pulling' },
      { kind: 'pulling' },
      { kind: 'pulling' },
    ]);
    registry.release();
    await vi.waitFor(() => engine.docker.getImage(image).inspect(), { timeout: WAIT_MS });
    expect(await ensure(image, 0)).toEqual({ kind: 'present' });
    const manifests = registry.requests
      .slice(before)
      .filter((line) => line.startsWith('GET') && line.includes('/manifests/'));
    expect(manifests.length).toBeLessThanOrEqual(2);
  });

  test('no more pulls go on at a time than are allowed, and who comes again gets one when there is room', async () => {
    const [first, second] = [await registry.push('train/first'), await registry.push('train/second')];
    const ensure = pulls(loginFor(registry.host), { mostPulls: 1 });
    registry.hold();
    expect(await ensure(first, 100)).toEqual({ kind: 'pulling' });
    expect(await ensure(second, WAIT_MS)).toEqual({ kind: 'pulling' });
    expect(registry.requests.filter((line) => line.includes('train/second') && line.startsWith('GET'))).toEqual([]);
    registry.release();
    expect(await ensure(first, WAIT_MS)).toEqual({ kind: 'present' });
    await expect.poll(() => ensure(second, WAIT_MS), { timeout: WAIT_MS }).toEqual({ kind: 'present' });
  });

  test('a pull without progress is given up, and the first who asks again hears of it', async () => {
    const image = await registry.push('train/stalled');
    const ensure = pulls(loginFor(registry.host), { stallMs: 1000 });
    registry.hold();
    expect(await ensure(image, 10)).toEqual({ kind: 'pulling' });
    const answer = await vi.waitFor(
      async () => {
        const now = await ensure(image, 10);
        expect(now.kind).not.toBe('pulling');
        return now;
      },
      { timeout: WAIT_MS, interval: 100 },
    );
    expect(answer).toEqual({ kind: 'failed', daemonMessage: 'no progress for 1 s' });
    registry.release();
    // On a busy machine even a good registry can be silent for as long as this one may.
    await expect.poll(() => ensure(image, WAIT_MS), { timeout: WAIT_MS }).toEqual({ kind: 'present' });
  });
});

test('a name that is no image name is not found, in the words of the engine', async () => {
  const answer = await pulls({})('127.0.0.1:1/UPPER CASE', WAIT_MS);
  expect(answer).toEqual({ kind: 'not_found', daemonMessage: expect.stringMatching(/invalid reference format/) });
});

test('a name with dots and slashes asks about no other thing than an image', async () => {
  const answer = await pulls({})('../containers', WAIT_MS);
  expect(answer).toEqual({ kind: 'not_found', daemonMessage: expect.stringMatching(/invalid reference format/) });
});

test('a registry that is not there is a failed pull, with the reason', async () => {
  const answer = await pulls({})('127.0.0.1:1/train:1', WAIT_MS);
  expect(answer).toEqual({ kind: 'failed', daemonMessage: expect.stringMatching(/connection refused/) });
});

test('what answers in the place of a registry is not read back to the caller', async () => {
  const secret = 'only-this-machine-may-read-this';
  const stranger = spawnInside(7777, `(_, answer) => answer.writeHead(403).end('<html>' + '${secret} '.repeat(50))`);
  await once(stranger.stdout, 'data');
  const answer = await pulls({})('127.0.0.1:7777/latest/meta-data:1', WAIT_MS);
  expect(answer).toMatchObject({ kind: 'failed', daemonMessage: expect.stringContaining('403') });
  expect(JSON.stringify(answer)).not.toContain(secret);
});

test('of words that a registry chose itself only a few are passed on', async () => {
  const body = `JSON.stringify({ errors: [{ code: 'DENIED', message: 'x'.repeat(100_000) }] })`;
  const stranger = spawnInside(
    7778,
    `(_, answer) => answer.writeHead(403, { 'content-type': 'application/json' }).end(${body})`,
  );
  await once(stranger.stdout, 'data');
  const answer = await pulls({})('127.0.0.1:7778/train:1', WAIT_MS);
  expect(answer).toMatchObject({ daemonMessage: expect.stringContaining('denied: xxx') });
  expect(JSON.stringify(answer).length).toBeLessThan(400);
});

/** Something that listens on a port of the engine's own network and is no registry. It goes with the engine. */
function spawnInside(port: number, handler: string): ChildProcessByStdio<null, Readable, null> {
  const program = `require('node:http').createServer(${handler}).listen(${port}, '127.0.0.1', () => console.log('up'))`;
  const [command, ...args] = engine.inside(process.execPath, '-e', program);
  return spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
}

test('a credential program is refused by name, and no pull is tried', async () => {
  const answer = await pulls({ credHelpers: { '127.0.0.1:1': 'pass' } })('127.0.0.1:1/train:1', WAIT_MS);
  expect(answer).toEqual({ kind: 'failed', daemonMessage: expect.stringMatching(/credHelpers names "pass"/) });
});

test('a failed pull is told to all who wait, and the next request tries anew', async () => {
  const ensure = pulls({});
  const answers = await Promise.all([ensure('127.0.0.1:1/x', WAIT_MS), ensure('127.0.0.1:1/x', WAIT_MS)]);
  expect(answers.map((answer) => answer.kind)).toEqual(['failed', 'failed']);
  const registry = await startRegistry(engine);
  const image = await registry.push('x');
  expect(await ensure(image, WAIT_MS)).toEqual({ kind: 'present' });
  await registry.stop();
});
