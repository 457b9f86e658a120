import Docker from 'dockerode';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { candidates, lookBeforeStart } from '../../../src/runtime/docker/before-start.js';
import { systemClock as clock } from '../../../src/time/system-clock.js';
import { startDockerProxy } from '../../support/docker/docker-proxy.js';
import { startEngine, type Engine } from '../../support/docker/engine.js';

/** On a real engine, in an image with links. */

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
  const link =
    'busybox mkdir -p /opt/bin /real && busybox ln -s /bin/sleep /opt/bin/good && busybox ln -s ../../bin/sleep /opt/bin/relative';
  const more =
    'busybox ln -s /nowhere /opt/bin/dangling && busybox ln -s /opt/bin/good /opt/bin/twice && busybox ln -s bin /sbin && busybox ln -s loop /opt/bin/loop';
  const container = await engine.docker.createContainer({
    Image: engine.image,
    Cmd: ['sh', '-c', `${link} && ${more}`],
  });
  await container.start();
  expect((await container.wait()) as object).toMatchObject({ StatusCode: 0 });
  await container.commit({ repo: 'links', tag: 'test' });
  await container.remove();
});
afterAll(() => engine.stop());

async function created(body: object): Promise<string> {
  const { HostConfig, ...rest } = body as { HostConfig?: object };
  const { id } = await engine.docker.createContainer({
    Image: 'links:test',
    HostConfig: { Init: true, ...HostConfig },
    ...rest,
  });
  return id;
}

const PATH = 'PATH=/opt/bin:/bin';
const there = { kind: 'go' };
const absent = { kind: 'no_command', detail: expect.stringMatching(/^exec: ".+": there is no such file/) as string };

test.each<[string, object, object]>([
  ['in a folder of the path that goes without saying', { Cmd: ['sleep', '1'] }, there],
  ['in no folder of it', { Cmd: ['python', 'train.py'] }, absent],
  ['in a folder of its own PATH', { Cmd: ['good'], Env: [PATH] }, there],
  ['in none of its own PATH', { Cmd: ['good'], Env: ['PATH=/bin'] }, absent],
  ['a link beside', { Cmd: ['relative'], Env: [PATH] }, there],
  ['a link to a link', { Cmd: ['twice'], Env: [PATH] }, there],
  ['a link to nothing', { Cmd: ['dangling'], Env: [PATH] }, absent],
  ['in a folder that is a link', { Cmd: ['/sbin/sleep'] }, there],
  ['a link to itself, which the start will tell', { Cmd: ['loop'], Env: [PATH] }, there],
  ['a path', { Cmd: ['/bin/sleep'] }, there],
  ['a path to nothing', { Cmd: ['/bin/python'] }, absent],
  ['a path from the working folder', { Cmd: ['bin/good'], WorkingDir: '/opt' }, there],
  ['a path from another working folder', { Cmd: ['bin/good'], WorkingDir: '/tmp' }, absent],
  ['what the entrypoint says, whatever comes after it', { Entrypoint: ['sleep'], Cmd: ['python'] }, there],
  ['an entrypoint that is not there', { Entrypoint: ['/entry.sh'], Cmd: ['sleep'] }, absent],
  ['in a volume', { Cmd: ['/vol/python'], HostConfig: { Binds: ['/bin:/vol:ro'] } }, absent],
  [
    'what NVIDIA’s hook brings along',
    {
      Cmd: ['nvidia-smi'],
      HostConfig: { DeviceRequests: [{ Driver: 'nvidia', DeviceIDs: ['GPU-0'], Capabilities: [['gpu']] }] },
    },
    there,
  ],
  ['the same without a card', { Cmd: ['nvidia-smi'] }, absent],
  [
    'a command without an init, which the engine refuses itself',
    { Cmd: ['python'], HostConfig: { Init: false } },
    there,
  ],
])('%s', async (_says, body, expected) => {
  expect(await lookBeforeStart(await created(body), { docker: engine.docker, clock })).toEqual(expected);
});

test('a container that is gone is for the start to find out', async () => {
  const id = await created({ Cmd: ['python'] });
  await engine.docker.getContainer(id).remove();
  expect(await lookBeforeStart(id, { docker: engine.docker, clock })).toEqual(there);
});

test('an engine that does not let itself be asked is not taken for one without the command', async () => {
  const proxy = await startDockerProxy(engine.socketPath);
  try {
    proxy.treat((what) => (what.startsWith('HEAD') ? 'lose' : 'pass'));
    const docker = new Docker({ socketPath: proxy.dockerHost.slice('unix://'.length) });
    expect(await lookBeforeStart(await created({ Cmd: ['python'] }), { docker, clock })).toEqual(there);
  } finally {
    await proxy.stop();
  }
});

test.each([
  ['sh', ['PATH=/bin::/opt'], '/job', ['/bin/sh', '/job/sh', '/opt/sh']],
  ['sh', ['PATH=/bin', 'PATH=/opt'], '/', ['/opt/sh']],
  ['./run', ['PATH=/bin'], '/job', ['/job/run']],
  ['/run', [], '/job', ['/run']],
])('%s with %j in %s is looked for at %j', (command, env, folder, paths) => {
  expect(candidates(command, env, folder)).toEqual(paths);
});

test('one that somebody started meanwhile is not this process’s to start', async () => {
  const id = await created({ Cmd: ['true'] });
  await engine.docker.getContainer(id).start();
  await engine.docker.getContainer(id).wait();
  expect(await lookBeforeStart(id, { docker: engine.docker, clock })).toEqual({ kind: 'changed', state: 'exited' });
});
