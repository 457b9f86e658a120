import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { daemonExecRoots } from '../../src/docker/daemon-process.js';
import { createOffLimits } from '../../src/docker/off-limits.js';
import { asGiven, ownContainerId } from '../../src/docker/own-container.js';
import { createContainerEvents } from '../../src/runtime/docker/events.js';
import { systemClock } from '../../src/time/system-clock.js';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startStrangeDocker, type StrangeDocker } from '../support/docker/strange-docker.js';

describe('what a real engine tells', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine();
  }, 60_000);
  afterAll(() => engine.stop());

  const inNone = () => Promise.resolve(null);
  const askAnew = (containerId = inNone as () => Promise<string | null>, own: readonly string[] = ['/own']) =>
    createOffLimits({ docker: engine.docker, connection: () => null, own, containerId })();
  const folder = (name: string) => join(engine.folder, name);

  test('its data folder and its exec root, where nothing runs and where something does', async () => {
    const expected = {
      kind: 'known',
      paths: expect.arrayContaining(['/own', folder('data'), folder('exec')]),
      volumes: [],
    };
    expect(await askAnew()).toEqual(expected);
    const container = await engine.docker.createContainer({ Image: engine.image, Cmd: ['sleep', '600'] });
    await container.start();
    expect(await askAnew()).toEqual({ ...expected, paths: ['/own', folder('data'), folder('exec')] });
  });

  test("the volumes of the gate's own container, and where on the machine its files lie", async () => {
    const gate = await engine.docker.createContainer({
      Image: engine.image,
      Cmd: ['sleep', '600'],
      HostConfig: {
        Binds: [`gate-state:/state`, `${folder('')}:/conf:ro`, `${engine.socketPath}:/var/run/docker.sock`],
      },
    });
    const own = ['/state', '/conf/tokens', '/var/run/docker.sock', '/elsewhere'];
    const answer = await askAnew(() => Promise.resolve(gate.id), own);
    const onMachine = [folder('data/volumes/gate-state/_data'), folder('tokens'), engine.socketPath];
    expect(answer).toEqual({
      kind: 'known',
      paths: [...own, folder('data'), folder('exec'), ...onMachine],
      volumes: ['gate-state'],
    });
  });

  test('nothing of a container that it does not have: the gate runs in one of another engine', async () => {
    expect(await askAnew(() => Promise.resolve('f'.repeat(64)))).toMatchObject({ kind: 'known', volumes: [] });
  });

  test('anew after it was down, and once for each connection', async () => {
    const events = createContainerEvents({ docker: engine.docker, clock: systemClock, log: { debug: () => {} } });
    const ask = createOffLimits({
      docker: engine.docker,
      connection: () => events.connection(),
      own: [],
      containerId: inNone,
    });
    await expect.poll(() => events.connection()).toBe(1);
    const first = await ask();
    expect(await ask()).toBe(first);
    await engine.kill();
    await expect.poll(() => events.connection()).toBe(null);
    expect(await ask()).toMatchObject({
      kind: 'unavailable',
      detail: expect.stringMatching(/Docker cannot be reached/),
    });
    await engine.restart();
    await expect.poll(() => events.connection(), { timeout: 40_000 }).toBe(2);
    const second = await ask();
    expect(second).not.toBe(first);
    expect(second).toMatchObject({ kind: 'known', paths: expect.arrayContaining([folder('data'), folder('exec')]) });
    expect(await ask()).toBe(second);
    events.close();
  }, 60_000);
});

describe('an answer', () => {
  const info = { DockerRootDir: '/data/docker', Containerd: { Address: '/run/c.sock' } };
  const running = { NetworkSettings: { SandboxKey: '/x/exec/netns/0a1b' } };
  let docker: StrangeDocker;
  let answers: Record<string, unknown> = {};
  beforeEach(async () => {
    answers = { '/info': info, '/containers/json': [{ Id: 'a' }, { Id: 'b' }], '/containers/b/json': running };
    docker = await startStrangeDocker((request) => {
      const path = request.replace(/^GET |\?.*$/g, '');
      return path in answers ? { status: 200, body: JSON.stringify(answers[path]) } : { status: 404, body: '{}' };
    });
  });
  afterEach(() => docker.stop());
  const asked = () => docker.requests.filter((request) => request.includes('/info')).length;

  test('is made of what the engine says of itself and of the network of a running container', async () => {
    const ask = createOffLimits({
      docker: docker.docker,
      connection: () => null,
      own: [],
      containerId: async () => null,
    });
    expect(await ask()).toEqual({ kind: 'known', paths: ['/data/docker', '/x/exec', '/run/c.sock'], volumes: [] });
  });

  test('is kept for as long as the connection is the same, and not at all without one', async () => {
    let connection: number | null = 1;
    const parts = { docker: docker.docker, connection: () => connection, own: [], containerId: async () => null };
    const ask = createOffLimits(parts);
    await Promise.all([ask(), ask(), ask()]);
    await ask();
    expect(asked()).toBe(1);
    connection = 2;
    answers['/info'] = { DockerRootDir: '/other' };
    expect(await ask()).toMatchObject({ paths: ['/other', '/x/exec'] });
    expect(asked()).toBe(2);
    connection = null;
    await ask();
    await ask();
    expect(asked()).toBe(4);
  });

  test('that came while the connection changed is not kept', async () => {
    let connection = 1;
    const parts = { docker: docker.docker, connection: () => connection++, own: [], containerId: async () => null };
    const ask = createOffLimits(parts);
    await ask();
    await ask();
    expect(asked()).toBe(2);
  });

  test.each([
    ['no data folder', { '/info': {} }, 'untold', /does not tell its data folder/],
    ['another thing than JSON', { '/info': undefined }, 'untold', /not that of an engine/],
    ['no list', { '/containers/json': undefined }, 'unavailable', /404|Docker/],
  ])('with %s lets nobody believe that all is told', async (_says, other, kind, words) => {
    Object.assign(answers, other);
    for (const [path, answer] of Object.entries(answers))
      if (answer === undefined && path !== '/info') delete answers[path];
    const ask = createOffLimits({ docker: docker.docker, connection: () => 1, own: [], containerId: async () => null });
    expect(await ask()).toMatchObject({ kind, detail: expect.stringMatching(words) });
    await ask();
    expect(asked()).toBe(2);
  });
});

describe('the exec root by the processes of the machine', () => {
  let proc = '';
  beforeEach(() => (proc = mkdtempSync(join(tmpdir(), 'proc-'))));
  afterEach(() => rmSync(proc, { recursive: true }));
  const config = (text: string) => {
    writeFileSync(join(proc, 'daemon.json'), text);
    return `--config-file=${join(proc, 'daemon.json')}`;
  };
  const daemon = (pid: number, ...words: readonly string[]) => {
    mkdirSync(join(proc, String(pid)));
    writeFileSync(join(proc, String(pid), 'comm'), 'dockerd\n');
    writeFileSync(join(proc, String(pid), 'cmdline'), ['dockerd', ...words].join('\0'));
  };

  test.each([
    ['the default', () => ['-H', 'fd://'], '/var/run/docker'],
    ['a flag', () => ['--exec-root=/a'], '/a'],
    ['a flag and its word', () => ['--debug', '--exec-root', '/a'], '/a'],
    ['the configuration', () => [config('{"exec-root": "/b"}')], '/b'],
    ['a configuration that says nothing of it', () => [config('{"debug": true}')], '/var/run/docker'],
  ])('is told by %s', async (_says, words, execRoot) => {
    daemon(7, ...words());
    expect(await daemonExecRoots(proc)).toMatchObject({ kind: 'seen', value: [execRoot] });
  });

  test('is that of each daemon, where there are several', async () => {
    daemon(7, '--exec-root=/a');
    daemon(8, '--exec-root=/b');
    expect(await daemonExecRoots(proc)).toMatchObject({ kind: 'seen', value: ['/a', '/b'] });
  });

  test('is not known where no daemon is seen, nor where its configuration cannot be read', async () => {
    expect(await daemonExecRoots(proc)).toMatchObject({ kind: 'blind', detail: expect.stringMatching(/no dockerd/) });
    daemon(7, config('{"exec-root": '));
    daemon(8, '--exec-root=/b');
    expect(await daemonExecRoots(proc)).toMatchObject({
      kind: 'blind',
      detail: expect.stringMatching(/configuration/),
    });
  });
});

test('a process in a container finds its id by the files that Docker mounts into it, and one outside finds none', async () => {
  const id = 'c4d04e'.padEnd(64, '0');
  const file = join(mkdtempSync(join(tmpdir(), 'mountinfo-')), 'mountinfo');
  const line = (root: string, at: string) => `600 581 8:1 ${root} ${at} rw,relatime - ext4 /dev/sda1 rw\n`;
  writeFileSync(file, line('/', '/') + line(`/var/lib/docker/containers/${id}/hostname`, '/etc/hostname'));
  expect(await ownContainerId(file)).toBe(id);
  writeFileSync(file, line('/', '/') + line('/srv/containers/x/hostname', '/etc/hostname'));
  expect(await ownContainerId(file)).toBe(null);
  expect(await ownContainerId('/no/such/file')).toBe(null);
});

test('a path that the gate was given is told by the deepest mount', () => {
  const mount = (Type: string, Source: string, Destination: string) => ({ Type, Source, Destination });
  const mounts = [
    mount('bind', '/srv/a', '/conf'),
    mount('bind', '/srv/b', '/conf/tokens'),
    mount('bind', '/c', '/conf2'),
  ];
  expect(asGiven(['/conf/tokens/x', '/conf', '/conf/..x', '/conf23'], mounts).paths).toEqual([
    '/srv/b/x',
    '/srv/a',
    '/srv/a/..x',
  ]);
});
