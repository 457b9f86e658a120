import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterEach, describe, expect, test } from 'vitest';
import { checkEngine, createDockerClient } from '../../src/docker/client.js';
import { startEngine } from '../support/docker/engine.js';
import { startStrangeDocker } from '../support/docker/strange-docker.js';

function clientOf(env: NodeJS.ProcessEnv) {
  const found = createDockerClient(env);
  if (found.kind === 'problem') throw new Error(found.detail);
  return found;
}

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const undo of cleanUp.splice(0)) await undo();
});

describe('the client', () => {
  test('talks to the engine of DOCKER_HOST, whatever this process has in its own environment', async () => {
    const engine = await startEngine();
    cleanUp.push(() => engine.stop());
    const { docker, endpoint } = clientOf({ DOCKER_HOST: engine.dockerHost });
    expect(endpoint).toBe(engine.dockerHost);
    expect(await checkEngine(docker)).toEqual({ kind: 'ok', version: expect.stringMatching(/^\d+\./) });
  });

  test('speaks TLS with the certificates of DOCKER_CERT_PATH, and verifies the other side', async () => {
    // Made once for localhost, valid for a hundred years; it guards nothing.
    const certs = fileURLToPath(new URL('../fixtures/tls', import.meta.url));
    const file = (name: string) => readFileSync(join(certs, name));
    const server = createServer({
      key: file('key.pem'),
      cert: file('cert.pem'),
      ca: file('ca.pem'),
      requestCert: true,
    });
    server.on('request', (_request, response) => response.end('{"Version":"27.0","ApiVersion":"1.47"}'));
    server.listen(0);
    await once(server, 'listening');
    cleanUp.push(() => server.close());
    const { port } = server.address() as AddressInfo;

    const env = { DOCKER_HOST: `tcp://localhost:${port}`, DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: certs };
    expect(await checkEngine(clientOf(env).docker)).toEqual({ kind: 'ok', version: '27.0' });
    const byAddress = { ...env, DOCKER_HOST: `tcp://127.0.0.1:${port}` };
    expect(await checkEngine(clientOf(byAddress).docker)).toEqual({
      kind: 'unreachable',
      detail: expect.stringMatching(/cannot be reached: Hostname\/IP does not match/),
    });
    expect(await checkEngine(clientOf({ DOCKER_HOST: env.DOCKER_HOST }).docker)).toMatchObject({ kind: 'unreachable' });
  });

  test('says which certificates it cannot read', () => {
    const env = { DOCKER_HOST: 'tcp://box', DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: '/no/certs' };
    expect(createDockerClient(env)).toEqual({
      kind: 'problem',
      detail: expect.stringMatching(/^the client for tcp:\/\/box:2376 cannot be made: ENOENT.*\/no\/certs/),
    });
  });
});

describe('an engine', () => {
  test.each([
    [
      'that is Podman is refused by name',
      '{"Version":"4.3.1","ApiVersion":"1.41","Components":[{"Name":"Podman Engine","Version":"4.3.1"}]}',
      {
        kind: 'refused',
        detail: expect.stringMatching(/this socket is Podman Engine 4.3.1: it drops device requests/),
      },
    ],
    [
      'that is Docker is fine',
      '{"Version":"27.0","ApiVersion":"1.47","Components":[{"Name":"Engine"},{"Name":"containerd"}]}',
      { kind: 'ok', version: '27.0' },
    ],
    [
      'before device requests is refused',
      '{"Version":"18.09.9","ApiVersion":"1.39"}',
      { kind: 'refused', detail: expect.stringMatching(/engine 18.09.9 with the API 1.39.*no device requests/) },
    ],
    [
      'of the first version with device requests is fine',
      '{"Version":"19.03.0","ApiVersion":"1.40"}',
      { kind: 'ok', version: '19.03.0' },
    ],
    ['of a version far ahead is fine', '{"Version":"40.0","ApiVersion":"2.0"}', { kind: 'ok', version: '40.0' }],
    ['that tells no API version is judged by what it stores', '{"Version":"1.0"}', { kind: 'ok', version: '1.0' }],
    [
      'that makes no sense is not there yet',
      'null',
      { kind: 'unreachable', detail: expect.stringMatching(/not that of an engine/) },
    ],
  ])('%s', async (_says, body, expected) => {
    const strange = await startStrangeDocker(() => ({ status: 200, body }));
    cleanUp.push(() => strange.stop());
    expect(await checkEngine(strange.docker)).toEqual(expected);
  });

  test('that is not there is no refusal', async () => {
    const { docker } = clientOf({ DOCKER_HOST: 'unix:///no/such/docker.sock' });
    expect(await checkEngine(docker)).toEqual({ kind: 'unreachable', detail: expect.stringMatching(/ENOENT/) });
  });

  test('that never answers is no refusal', async () => {
    const strange = await startStrangeDocker(() => 'silence');
    cleanUp.push(() => strange.stop());
    expect(await checkEngine(strange.docker, 200)).toMatchObject({ kind: 'unreachable' });
  });
});

test('dockerode is loaded without gRPC, protobuf and SSH, which take more than half of its time', async () => {
  const built = JSON.stringify(new URL('../../dist/docker/lean-dockerode.js', import.meta.url).href);
  const source = `import { createRequire } from 'node:module';
    import { loadDockerode } from ${built};
    new (loadDockerode())();
    console.log(Object.keys(createRequire(${built}).cache).join(' '))`;
  const { stdout } = await execa(process.execPath, ['--input-type=module', '-e', source]);
  expect(stdout).toContain('dockerode/lib/container.js');
  expect(stdout).not.toMatch(/grpc|protobuf|ssh2/);
});
