import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ContainerRequest } from '../../../src/model/admission.js';
import { createDockerBooks } from '../../../src/runtime/docker/books.js';
import { createDockerHands, type DockerLimits } from '../../../src/runtime/docker/hands.js';
import { systemClock } from '../../../src/time/system-clock.js';
import { startEngine, type Engine } from '../../support/docker/engine.js';
import { grantOf, job, listeningLog, plainRequest, uuidOf } from '../../support/jobs.js';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());
afterEach(() => {
  engine.resume();
  engine.hook('pass');
});

const handsOf = (on: Engine, limits: Partial<DockerLimits> = {}) =>
  createDockerHands({
    docker: on.docker,
    clock: systemClock,
    log: listeningLog(),
    findAuth: async () => ({ kind: 'anonymous' }),
    limits,
  });

/** Creates, or says what came instead. */
async function created(runId: string, more: Partial<ContainerRequest> = {}, on = engine): Promise<string> {
  const request = plainRequest(on.image, { command: ['sleep', '1000'], ...more });
  const answer = await handsOf(on).create(job(runId, request), grantOf(1, 3));
  if (answer.kind !== 'created') throw new Error(`expected "created", got ${JSON.stringify(answer)}`);
  return answer.id;
}
const stateOf = async (id: string, on = engine) => (await on.docker.getContainer(id).inspect()).State;

describe('a job that was started', () => {
  test('sees the uuids of its cards and the order of nvidia-smi, and has one device request', async () => {
    const id = await created('cards');
    expect(await handsOf(engine).start(id)).toEqual({ kind: 'started' });
    const environ = await engine.environOf(id);
    expect(environ['NVIDIA_VISIBLE_DEVICES']).toBe(`${uuidOf(1)},${uuidOf(3)}`);
    expect(environ['CUDA_DEVICE_ORDER']).toBe('PCI_BUS_ID');
    const { DeviceRequests } = (await engine.docker.getContainer(id).inspect()).HostConfig;
    expect(DeviceRequests).toMatchObject([{ Count: 0, DeviceIDs: [uuidOf(1), uuidOf(3)], Capabilities: [['gpu']] }]);
  });

  test('has everything that the request asked for', async () => {
    const data = join(engine.folder, 'sets');
    mkdirSync(data);
    const id = await created('everything', {
      command: ['sleep 1000'],
      entrypoint: ['/bin/sh', '-c'],
      env: { EPOCHS: '3' },
      workingDir: '/tmp',
      user: '1000:1000',
      shmBytes: 128 * 1024 * 1024,
      memoryBytes: 256 * 1024 * 1024,
      cpus: 1.5,
      mounts: [
        { type: 'bind', source: data, target: '/data', readOnly: true },
        { type: 'volume', source: 'scratch', target: '/scratch', readOnly: false },
      ],
      network: 'bridge',
      labels: { team: 'vision' },
      ulimits: { nofile: 1000 },
      ports: [{ container: 8080, host: 18_080 }],
      devices: ['/dev/null'],
      capAdd: ['IPC_LOCK'],
      ipc: 'private',
    });
    expect(await handsOf(engine).start(id)).toEqual({ kind: 'started' });
    const { Config, HostConfig, Mounts, NetworkSettings } = await engine.docker.getContainer(id).inspect();
    expect(Config).toMatchObject({ WorkingDir: '/tmp', User: '1000:1000', Entrypoint: ['/bin/sh', '-c'] });
    expect(Config.Env).toContain('EPOCHS=3');
    expect(HostConfig).toMatchObject({
      Privileged: false,
      Init: true,
      PidsLimit: 4096,
      NanoCpus: 1.5e9,
      Memory: 256 * 1024 * 1024,
      ShmSize: 128 * 1024 * 1024,
      RestartPolicy: { Name: 'no' },
      SecurityOpt: ['no-new-privileges'],
      IpcMode: 'private',
      PidMode: '',
      CapAdd: expect.arrayContaining([expect.stringMatching(/IPC_LOCK/)]),
    });
    expect(HostConfig.Ulimits).toEqual(
      expect.arrayContaining([
        { Name: 'stack', Soft: 67_108_864, Hard: 67_108_864 },
        { Name: 'nofile', Soft: 1000, Hard: 1000 },
      ]),
    );
    expect(Object.fromEntries(Mounts.map(({ Destination, RW }) => [Destination, RW]))).toEqual({
      '/data': false,
      '/scratch': true,
    });
    expect(NetworkSettings.Ports['8080/tcp']?.[0]?.HostPort).toBe('18080');
  });

  test('of no cards is kept from all of them', async () => {
    const answer = await handsOf(engine).create(
      job('none', plainRequest(engine.image, { command: ['sleep', '1000'] }), 0),
      grantOf(),
    );
    if (answer.kind !== 'created') throw new Error(JSON.stringify(answer));
    await handsOf(engine).start(answer.id);
    expect((await engine.environOf(answer.id))['NVIDIA_VISIBLE_DEVICES']).toBe('void');
    expect((await engine.docker.getContainer(answer.id).inspect()).HostConfig.DeviceRequests ?? []).toEqual([]);
  });
});

describe('what Docker refuses', () => {
  test.each<[string, Partial<ContainerRequest>, object]>([
    ['an image that is not there is told apart', { image: 'nothing:1' }, { kind: 'image_gone' }],
    [
      'a source folder that is not there is the request’s fault',
      { mounts: [{ type: 'bind', source: '/no/such/folder', target: '/data', readOnly: true }] },
      { kind: 'refused', daemonMessage: expect.stringMatching(/bind source path does not exist/) },
    ],
    [
      'too little memory is the request’s fault',
      { memoryBytes: 1024 },
      { kind: 'refused', daemonMessage: expect.stringMatching(/memory limit/i) },
    ],
  ])('create: %s', async (_says, more, expected) => {
    const answer = await handsOf(engine).create(job('refused', plainRequest(engine.image, more)), grantOf(0));
    expect(answer).toMatchObject(expected);
  });

  test.each<[string, Partial<ContainerRequest>, object]>([
    [
      'a user that the image does not have fails',
      { user: 'no-such-user' },
      { kind: 'failed', daemonMessage: expect.stringMatching(/no-such-user/) },
    ],
    [
      'a network that is not there is the request’s fault, not a container that is gone',
      { network: 'no-such-network' },
      { kind: 'refused', daemonMessage: expect.stringMatching(/no-such-network/) },
    ],
    [
      'a device that is not there fails',
      { devices: ['/dev/no-such-device'] },
      { kind: 'failed', daemonMessage: expect.stringMatching(/no-such-device/) },
    ],
  ])('start: %s, and the container stays created', async (_says, more, expected) => {
    const id = await created(`start-${Date.now()}`, more);
    expect(await handsOf(engine).start(id)).toMatchObject(expected);
    expect((await stateOf(id)).Status).toBe('created');
    expect(await handsOf(engine).remove(id, 'created')).toEqual({ kind: 'removed' });
  });

  test('a command that the image does not have is refused before the start, which would end at once with 127', async () => {
    const id = await created('no-command', { command: ['no-such-program'] });
    expect(await handsOf(engine).start(id)).toEqual({
      kind: 'refused',
      daemonMessage: expect.stringMatching(/^exec: "no-such-program": there is no such file/),
    });
    expect(await stateOf(id)).toMatchObject({ Status: 'created' });
  });

  test('a hook that fails makes the start fail in its own words, and nothing runs', async () => {
    engine.hook({ failWith: 'nvidia-container-cli: device error: GPU-x: unknown device' });
    const id = await created('hook-fails');
    expect(await handsOf(engine).start(id)).toEqual({
      kind: 'failed',
      daemonMessage: expect.stringMatching(/unknown device/),
    });
    expect((await stateOf(id)).Running).toBe(false);
    expect(await handsOf(engine).remove(id, 'created')).toEqual({ kind: 'removed' });
  });

  test('without NVIDIA’s hook a start fails, and the container stays created', async () => {
    const bare = await startEngine({ nvidiaHook: false });
    try {
      const id = await created('no-hook', {}, bare);
      expect(await handsOf(bare).start(id)).toEqual({
        kind: 'failed',
        daemonMessage: expect.stringMatching(/could not select device driver/),
      });
      expect((await stateOf(id, bare)).Status).toBe('created');
      expect(await handsOf(bare).remove(id, 'created')).toEqual({ kind: 'removed' });
    } finally {
      await bare.stop();
    }
  });

  test('a paused job is not removed', async () => {
    const id = await created('paused');
    await handsOf(engine).start(id);
    await engine.docker.getContainer(id).pause();
    expect(await handsOf(engine).remove(id, 'created')).toEqual({ kind: 'left', state: 'paused' });
    expect((await stateOf(id)).Paused).toBe(true);
  });
});

describe('a Docker that does not answer', () => {
  test('leaves a create in doubt, and it happens after all', async () => {
    engine.pause();
    const request = plainRequest(engine.image, { command: ['sleep', '1000'] });
    const answer = await handsOf(engine, { create: 300 }).create(job('late', request), grantOf(0));
    expect(answer).toEqual({ kind: 'in_doubt', detail: expect.stringMatching(/no complete answer within 300 ms/) });
    engine.resume();
    const books = createDockerBooks({ docker: engine.docker, clock: systemClock, log: listeningLog() });
    await vi.waitFor(
      async () => expect(await books.findRun('late')).toMatchObject({ value: [{ name: 'tuneplane-late' }] }),
      { timeout: 10_000, interval: 50 },
    );
  });

  test('leaves a start in doubt while a hook hangs, and keeps the container', async () => {
    engine.hook('hang');
    const id = await created('hangs');
    expect(await handsOf(engine, { start: 500 }).start(id)).toMatchObject({ kind: 'in_doubt' });
    const list = await engine.docker.listContainers({ all: true, filters: { id: [id] } });
    expect(list).toMatchObject([{ State: 'created' }]);
    engine.hook('pass');
    await vi.waitFor(async () => expect((await stateOf(id)).Running).toBe(true), { timeout: 10_000, interval: 50 });
  });

  test('leaves a removal in doubt', async () => {
    const id = await created('remove-late');
    engine.pause();
    expect(await handsOf(engine, { look: 300 }).remove(id, 'created')).toMatchObject({ kind: 'in_doubt' });
  });

  test('being killed in the middle of a start leaves it in doubt, and the next engine tells', async () => {
    engine.hook('hang');
    const id = await created('killed');
    const starting = handsOf(engine).start(id);
    await vi.waitFor(async () => expect((await engine.docker.listContainers({ all: true })).length).toBeGreaterThan(0));
    await engine.kill();
    expect(await starting).toEqual({ kind: 'in_doubt', detail: expect.stringMatching(/broke off|cannot be reached/) });
    engine.hook('pass');
    await engine.restart();
    const books = createDockerBooks({ docker: engine.docker, clock: systemClock, log: listeningLog() });
    expect(await books.findRun('killed')).toMatchObject({ kind: 'seen', value: [{ id }] });
  });

  test('being away leaves all in doubt, with the reason', async () => {
    await engine.kill();
    const hands = handsOf(engine);
    const reason = { detail: expect.stringMatching(/cannot be reached: connect ECONNREFUSED/) };
    const request = plainRequest(engine.image);
    expect(await hands.create(job('away', request), grantOf(0))).toMatchObject({ kind: 'in_doubt', ...reason });
    expect(await hands.start('abc')).toMatchObject({ kind: 'in_doubt', ...reason });
    expect(await hands.remove('abc', 'created')).toMatchObject({ kind: 'in_doubt', ...reason });
    expect(await hands.ensureImage('x', 1000)).toMatchObject({ kind: 'unavailable', ...reason });
    await engine.restart();
  });
});
