import { afterEach, expect, test } from 'vitest';
import { askImages, askInfo, askVersion } from '../../src/docker/engine-facts.js';
import { startStrangeDocker, type StrangeAnswer, type StrangeDocker } from '../support/docker/strange-docker.js';

let strange: StrangeDocker;
afterEach(() => strange.stop());

async function engine(answer: (request: string) => StrangeAnswer) {
  strange = await startStrangeDocker(answer);
  return strange.docker;
}
const body = (value: unknown): StrangeAnswer => ({ status: 200, body: JSON.stringify(value) });

test('an engine with CDI tells its devices, and those of other kinds are left out', async () => {
  const docker = await engine(() =>
    body({
      Runtimes: { runc: { path: 'runc' }, nvidia: { path: 'nvidia-container-runtime' } },
      DefaultRuntime: 'runc',
      CDISpecDirs: ['/etc/cdi', '/var/run/cdi'],
      DiscoveredDevices: [
        { Source: 'cdi', ID: 'nvidia.com/gpu=0' },
        { Source: 'other', ID: 'x' },
      ],
      CgroupDriver: 'systemd',
      SecurityOptions: ['name=seccomp,profile=builtin', 'name=rootless'],
    }),
  );
  expect(await askInfo(docker)).toMatchObject({
    kind: 'seen',
    value: {
      runtimes: ['runc', 'nvidia'],
      defaultRuntime: 'runc',
      cdiFolders: ['/etc/cdi', '/var/run/cdi'],
      cdiDevices: ['nvidia.com/gpu=0'],
      cgroupDriver: 'systemd',
      rootless: true,
    },
  });
});

test('an engine without any of it tells none', async () => {
  const docker = await engine(() => body({ CgroupDriver: 'cgroupfs' }));
  expect(await askInfo(docker)).toMatchObject({
    kind: 'seen',
    value: { runtimes: [], cdiDevices: [], rootless: false },
  });
});

test('an answer that is none is blind, never an empty one', async () => {
  const docker = await engine(() => ({ status: 200, body: 'hello' }));
  for (const ask of [askVersion, askInfo, askImages]) {
    expect(await ask(docker)).toMatchObject({ kind: 'blind', why: 'parse' });
  }
});

test('an image is named by its tag, else by its id; one that is gone meanwhile is counted as untold', async () => {
  const docker = await engine((request) => {
    if (request.includes('/images/json')) {
      return body([
        { Id: 'sha256:aa', RepoTags: ['cuda:12'] },
        { Id: 'sha256:bb0123456789abcdef', RepoTags: ['<none>:<none>'] },
        { Id: 'sha256:cc', RepoTags: null },
      ]);
    }
    if (request.includes('sha256:cc')) return { status: 404, body: '{"message":"No such image"}' };
    return body({ Config: { Env: ['NVIDIA_VISIBLE_DEVICES=all'] } });
  });
  expect(await askImages(docker)).toMatchObject({
    kind: 'seen',
    value: {
      unanswered: 1,
      images: [
        { name: 'cuda:12', env: ['NVIDIA_VISIBLE_DEVICES=all'] },
        { name: 'sha256:bb0123456789', env: ['NVIDIA_VISIBLE_DEVICES=all'] },
      ],
    },
  });
});
