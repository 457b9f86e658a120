import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { by, parseMetrics } from '../support/metrics-page.js';
import { importBaseImage } from './base-image.js';
import { buildImage } from './build.js';
import { startPackageSource } from './package-source.js';
import { PROJECT } from './project.js';
import { asShipped } from './run-as-shipped.js';

const IMAGE = 'tuneplane-gpu-gate:test';
const REVISION = '0123456789abcdef0123456789abcdef01234567';
/** Of the engine's socket: a number that no group has by chance. */
const DOCKER_GID = '4242';
const STATE = '/var/lib/tuneplane-gpu-gate';

let engine: Engine;

beforeAll(async () => {
  engine = await startEngine({ flags: [`--group=${DOCKER_GID}`] });
  const packages = await startPackageSource(engine);
  await importBaseImage(engine, 'node:24-slim', packages.url);
  await buildImage(engine, IMAGE, { REVISION, DOCKER_GID });
  packages.stop();
}, 420_000);

afterAll(() => engine.stop());

describe('the image', () => {
  test('says what it is, which version, and which commit it was made from', async () => {
    const { Config } = await engine.docker.getImage(IMAGE).inspect();
    expect(Config.Labels).toMatchObject({
      'org.opencontainers.image.title': 'tuneplane-gpu-gate',
      'org.opencontainers.image.version': ofPackage('version'),
      'org.opencontainers.image.licenses': ofPackage('license'),
      'org.opencontainers.image.revision': REVISION,
      'org.opencontainers.image.base.name': 'node:24-slim',
    });
    expect((await run('--version')).trim()).toBe(`gpu-gate ${ofPackage('version')} (${REVISION})`);
  });

  test('holds exactly the packages that the gate runs with', async () => {
    expect(JSON.parse(await run(PACKAGES, ['node', '-e']))).toEqual(productionPackages());
  });

  test('holds no source, no test, and no tool that installs or compiles', async () => {
    const found = await sh('ls -1A . /usr/local/lib/node_modules; command -v npm npx corepack yarn yarnpkg tsc; true');
    const files = ['LICENSE', 'README.md', 'REVISION', 'dist', 'node_modules', 'package.json'];
    expect(found).toEqual(['ls: /usr/local/lib/node_modules: No such file or directory', '.:', ...files]);
  });

  test('runs as a user of its own, in the group that the build was told', async () => {
    expect(await sh('id -un; id -G')).toEqual(['gpu-gate', `9840 ${DOCKER_GID}`]);
  });

  test('lets its user write nothing but the state', async () => {
    expect(await sh(`find / -xdev '(' -user gpu-gate -o -perm -0002 ')' ! -type l`)).toEqual([STATE]);
  });
});

describe('a gate that is run as the docker run line says', () => {
  let gate: Docker.Container;
  let instanceId = '';

  beforeAll(async () => {
    gate = await engine.docker.createContainer(asShipped(engine, IMAGE));
    await gate.start();
  });

  test('becomes healthy', async () => {
    await expect.poll(health, { timeout: 30_000 }).toBe('healthy');
  });

  test('shows the cards where Prometheus asks, and counts itself as no job and no use from outside', async () => {
    const page = parseMetrics(await inBox('busybox', 'wget', '-qO-', 'http://127.0.0.1:9841/metrics'));
    expect(by(page, 'tuneplane_gpu_cards', 'state')).toMatchObject({ free: 8, job_held: 0, external: 0, unknown: 0 });
    expect(by(page, 'tuneplane_gpu_build_info', 'revision')).toEqual({ [REVISION]: 1 });
  });

  test.each([['/'], ['/page/main.js'], ['/README.md']])('serves %s to a browser', async (path) => {
    expect(await inBox('busybox', 'wget', '-qO-', `http://127.0.0.1:9840${path}`)).not.toBe('');
  });

  test('is not root, has no capability, may use the socket by its group, and sees the processes of the machine', async () => {
    const [uid, groups, capabilities, first] = (
      await exec(['sh', '-c', 'id -u; id -G; grep CapEff /proc/self/status; cat /proc/1/comm'])
    ).output.split('\n');
    expect(uid).toBe('9840');
    expect(groups?.split(' ')).toEqual(['9840', DOCKER_GID]);
    expect(capabilities).toMatch(/^CapEff:\s*0{16}$/);
    expect(first).toBe('docker-init');
  });

  test('starts a job on the cards it picked', async () => {
    const container = { image: engine.image, command: ['sleep', '600'] };
    const body = JSON.stringify({ run_id: 'train-1', count: 2, container });
    const asJson = ['--header', 'content-type: application/json', '--post-data', body];
    const answer = await inBox('busybox', 'wget', '-qO-', ...asJson, 'http://127.0.0.1:9840/admit');
    expect(JSON.parse(answer)).toMatchObject({ decision: 'admitted', gpus: [0, 1], run: { state: 'running' } });
  });

  test('gives a job no volume of its own, which would be the role operate', async () => {
    const mount = { type: 'volume', source: 'gpu-gate-state', target: '/state' };
    const body = JSON.stringify({ run_id: 'thief', count: 0, container: { image: engine.image, mounts: [mount] } });
    const asJson = ['--header', 'content-type: application/json', '--post-data', body];
    const asked = inBox('busybox', 'wget', '-qO-', ...asJson, 'http://127.0.0.1:9840/admit');
    await expect(asked).rejects.toThrow(/403 Forbidden/);
    const lines = (await gate.logs({ stdout: true })).toString();
    expect(lines).toContain("the volume gpu-gate-state is the gate's own, which no job may mount");
  });

  test.each([
    ['succeeds where the metrics are', {}, 0],
    ['asks the main address where there is no other', { TUNEPLANE_METRICS_LISTEN: '' }, 0],
    ['fails where nobody listens', { TUNEPLANE_METRICS_LISTEN: '127.0.0.1:1' }, 1],
    ['asks the first of several', { TUNEPLANE_METRICS_LISTEN: 'unix:/none.sock,127.0.0.1:9841' }, 1],
  ])('its healthcheck %s', async (_says, env, code) => {
    const check = (await gate.inspect()).Config.Healthcheck?.Test?.slice(1) ?? [];
    expect((await exec(check, env)).code).toBe(code);
  });

  test('ends in order at SIGTERM', async () => {
    instanceId = (await exec(['cat', `${STATE}/instance-id`])).output;
    await gate.stop();
    expect((await gate.inspect()).State).toMatchObject({ Status: 'exited', ExitCode: 0, OOMKilled: false });
    await gate.remove();
  });

  test('is the same gate in the next container on its volume, and healthy too when it listens on unix sockets alone', async () => {
    const Env = [`TUNEPLANE_LISTEN=unix:${STATE}/gate.sock`, 'TUNEPLANE_METRICS_LISTEN='];
    gate = await engine.docker.createContainer({ ...asShipped(engine, IMAGE), Env });
    await gate.start();
    await expect.poll(health, { timeout: 30_000 }).toBe('healthy');
    expect(instanceId).toMatch(/^\S+$/);
    expect((await exec(['cat', `${STATE}/instance-id`])).output).toBe(instanceId);
  });

  async function health(): Promise<string | undefined> {
    return (await gate.inspect()).State.Health?.Status;
  }

  /** In the container, beside the gate. */
  async function exec(command: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const made = await gate.exec({
      Cmd: [...command],
      Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
      AttachStdout: true,
      AttachStderr: true,
      Tty: true,
    });
    const output = await textOf(await made.start({ Tty: true }));
    return { output: output.replaceAll('\r', '').trim(), code: (await made.inspect()).ExitCode };
  }
});

/** Runs a container of the image to its end: what it said. */
async function run(argument: string, entrypoint: readonly string[] = ['gpu-gate']): Promise<string> {
  const container = await engine.docker.createContainer({
    Image: IMAGE,
    Entrypoint: [...entrypoint],
    Cmd: [argument],
    Tty: true,
    HostConfig: { NetworkMode: 'none' },
  });
  const said = textOf(await container.attach({ stream: true, stdout: true, stderr: true }));
  await container.start();
  const { StatusCode: code } = (await container.wait()) as { readonly StatusCode: number };
  await container.remove({ v: true });
  const text = (await said).replaceAll('\r', '');
  if (code !== 0) throw new Error(`ended with ${code}: ${text}`);
  return text;
}

/** What a script said in a container of the image, line by line. */
async function sh(script: string): Promise<readonly string[]> {
  return (await run(script, ['sh', '-c'])).trim().split(/\n+/);
}

/** In the engine's network, outside of any container. */
async function inBox(...argv: readonly string[]): Promise<string> {
  const [program, ...args] = engine.inside(...argv);
  return (await promisify(execFile)(program, args)).stdout;
}

async function textOf(stream: AsyncIterable<unknown>): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  return text;
}

function ofPackage(key: 'version' | 'license'): string {
  return (JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as Record<typeof key, string>)[key];
}

/** Prints the places of all packages. */
const PACKAGES = `
const { readdirSync } = require('node:fs');
const at = (folder) => readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
  .flatMap(({ name }) => name.startsWith('@') ? readdirSync(folder + '/' + name).map((part) => folder + '/' + name + '/' + part) : [folder + '/' + name])
  .flatMap((place) => [place, ...(readdirSync(place).includes('node_modules') ? at(place + '/node_modules') : [])]);
process.stdout.write(JSON.stringify(at('node_modules').toSorted()));
`;

/** What of the lock file is no development's, and is for this kind of machine: as it was installed here. */
function productionPackages(): readonly string[] {
  const { packages } = JSON.parse(readFileSync(join(PROJECT, 'node_modules/.package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly devOptional?: boolean }>>;
  };
  return Object.entries(packages)
    .filter(([, { dev, devOptional }]) => dev !== true && devOptional !== true)
    .map(([place]) => place)
    .toSorted();
}
