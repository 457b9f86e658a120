import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseRequest } from '../../src/admit/request.js';
import type { JobSpec, Refusal } from '../../src/model/admission.js';
import { parsePolicy } from '../../src/policy/policy-file.js';
import { createPolicy } from '../../src/policy/policy.js';

let machine = '';

beforeAll(async () => {
  machine = await mkdtemp(join(tmpdir(), 'policy-'));
  await mkdir(join(machine, 'data/sets/cars'), { recursive: true });
  await mkdir(join(machine, 'data/scratch'), { recursive: true });
  await mkdir(join(machine, 'data/docker/volumes'), { recursive: true });
  await mkdir(join(machine, 'private'));
  await symlink('/etc', join(machine, 'data/sets/link-to-etc'));
  await symlink(join(machine, 'private'), join(machine, 'data/sets/link-out'));
  await symlink(join(machine, 'data/sets/cars'), join(machine, 'data/sets/link-inside'));
  await symlink(join(machine, 'data'), join(machine, 'link-to-data'));
  await symlink(join(machine, 'data/docker'), join(machine, 'data/sets/link-to-docker'));
});

afterAll(() => rm(machine, { recursive: true }));

test('without a file a plain request is let through with its defaults and a pids limit', async () => {
  const spec = await allowed({}, {});
  expect(spec).toMatchObject({ pidsLimit: 32_768, container: { shmBytes: 8 * 1024 ** 3 } });
  expect(spec.container).toMatchObject({
    user: undefined,
    memoryBytes: undefined,
    cpus: undefined,
    network: undefined,
  });
});

test.each([
  ['any image', { image: 'evil.example/x' }],
  ['a named volume', { mounts: [{ type: 'volume', source: 'scratch', target: '/x' }] }],
  ['the bridge', { network: 'bridge' }],
  ['no network', { network: 'none' }],
  ['any user', { user: '0:0' }],
  ['an ipc of its own', { ipc: 'private' }],
  ['any memory', { memory_bytes: 2 ** 50, cpus: 4_096, shm_bytes: 2 ** 50 }],
])('without a file %s may be asked for', async (_says, container) => {
  expect(await allowed({}, container)).toMatchObject({ runId: 'a' });
});

test.each([
  ['a folder', { mounts: [{ type: 'bind', source: '/srv', target: '/x' }] }, '/container/mounts/0/source'],
  ['another network', { network: 'lan' }, '/container/network'],
  ['a port', { ports: [{ container: 80, host: 8080 }] }, '/container/ports/0/host'],
  ['a device', { devices: ['/dev/fuse'] }, '/container/devices/0'],
  ['a capability', { cap_add: ['IPC_LOCK'] }, '/container/cap_add/0'],
  ['a shared ipc', { ipc: 'shareable' }, '/container/ipc'],
])('without a file %s may not be asked for', async (_says, container, pointer) => {
  expect(await deniedPointers({}, container)).toEqual([pointer]);
});

const everything = {
  images: ['*'],
  mounts: [],
  volumes: ['*'],
  networks: ['*'],
  users: ['*'],
  ports: ['1-65535'],
  devices: ['/dev/*'],
  cap_add: ['IPC_LOCK'],
  ipc: ['private', 'shareable', 'none'],
};

test.each([
  ['env NVIDIA_VISIBLE_DEVICES', { env: { NVIDIA_VISIBLE_DEVICES: 'all' } }, '/container/env/NVIDIA_VISIBLE_DEVICES'],
  [
    'any other env NVIDIA_',
    { env: { NVIDIA_DRIVER_CAPABILITIES: 'all' } },
    '/container/env/NVIDIA_DRIVER_CAPABILITIES',
  ],
  ['env CUDA_VISIBLE_DEVICES', { env: { CUDA_VISIBLE_DEVICES: '0' } }, '/container/env/CUDA_VISIBLE_DEVICES'],
  ['env CUDA_DEVICE_ORDER', { env: { CUDA_DEVICE_ORDER: 'x' } }, '/container/env/CUDA_DEVICE_ORDER'],
  ['env LD_PRELOAD', { env: { LD_PRELOAD: '/x.so' } }, '/container/env/LD_PRELOAD'],
  ['env LD_LIBRARY_PATH', { env: { LD_LIBRARY_PATH: '/x' } }, '/container/env/LD_LIBRARY_PATH'],
  ['env LD_AUDIT', { env: { LD_AUDIT: '/x.so' } }, '/container/env/LD_AUDIT'],
  ['a label of the platform', { labels: { 'tuneplane.gpus': '0' } }, '/container/labels/tuneplane.gpus'],
  [
    'a label of Docker',
    { labels: { 'com.docker.compose.project': 'x' } },
    '/container/labels/com.docker.compose.project',
  ],
  ["the host's network", { network: 'host' }, '/container/network'],
  ["the host's ipc", { ipc: 'host' }, '/container/ipc'],
  ['a card by its device file', { devices: ['/dev/nvidia0'] }, '/container/devices/0'],
  ["the driver's control file", { devices: ['/dev/nvidiactl'] }, '/container/devices/0'],
  ['a device by a way around', { devices: ['/dev/shm/../nvidia0'] }, '/container/devices/0'],
  ['every capability', { cap_add: ['ALL'] }, '/container/cap_add/0'],
])('%s is refused whatever the policy says', async (_says, container, pointer) => {
  expect([...new Set(await deniedPointers(everything, container))]).toEqual([pointer]);
});

test('env and labels that only look alike are let through', async () => {
  const spec = await allowed(
    {},
    { env: { MY_NVIDIA_KEY: 'x', LD_PRELOADED: 'x' }, labels: { 'my.tuneplane.x': 'y', tuneplane: 'z' } },
  );
  expect(Object.keys(spec.container.env)).toEqual(['MY_NVIDIA_KEY', 'LD_PRELOADED']);
});

test.each([
  ['/', '/'],
  ['/etc', '/etc'],
  ['a file below /etc', '/etc/passwd'],
  ['/etc by a way around', '/srv/../etc'],
  ['/etc with more slashes', '//etc///'],
  ['/proc', '/proc/1/root'],
  ['/sys', '/sys'],
  ['/dev', '/dev'],
  ['/run', '/run/docker.sock'],
  ['/run by its older name', '/var/run/docker.sock'],
  ["Docker's root", '/var/lib/docker'],
  ['a folder that holds a forbidden one', '/var/lib'],
])('%s is never given, even where its root is allowed', async (_says, source) => {
  const policy = createPolicy({
    rules: () => ({ ...rules({}), mounts: [{ root: '/', readOnly: false }] }),
    forbidden: [],
  });
  const answer = await policy(request({ mounts: [{ type: 'bind', source, target: '/x', read_only: true }] }));
  expect(refusal(answer).errors?.map(({ pointer }) => pointer)).toEqual(['/container/mounts/0/source']);
});

test('below an allowed root a folder is given by the path behind its links', async () => {
  const at = (source: string): Promise<JobSpec> => mounted({ mounts: [{ root: `${machine}/data` }] }, source);
  for (const source of [
    'data/sets/cars',
    'data/sets/link-inside',
    'link-to-data/sets/cars',
    'data/scratch/../sets/cars/',
  ]) {
    expect((await at(`${machine}/${source}`)).container.mounts).toEqual([
      { type: 'bind', source: `${machine}/data/sets/cars`, target: '/x', readOnly: false },
    ]);
  }
});

test('a root may itself be a link', async () => {
  const { container } = await mounted(
    { mounts: [{ root: `${machine}/link-to-data` }] },
    `${machine}/link-to-data/sets`,
  );
  expect(container.mounts[0]?.source).toBe(`${machine}/data/sets`);
});

test.each([
  ['a link that leads out of its root', 'data/sets/link-out', 'leads out of the allowed roots through a link'],
  ['a link to /etc', 'data/sets/link-to-etc', 'in a folder that no job is given'],
  ["a link to Docker's root", 'data/sets/link-to-docker', 'in a folder that no job is given'],
  ["a folder in Docker's root", 'data/docker/volumes', 'in a folder that no job is given'],
  ["a folder that holds Docker's root", 'data', 'in a folder that no job is given'],
  ['a folder beside the root', 'private', 'is below no allowed root'],
  ['a folder whose name begins like the root', 'data/sets-2', 'is below no allowed root'],
  ['what is not there', 'data/sets/gone', 'does not exist on this machine'],
  ['what is not there, outside', 'gone', 'is below no allowed root'],
])('%s is refused', async (_says, source, words) => {
  const policy = createPolicy({
    rules: () => rules({ mounts: [{ root: `${machine}/data/sets` }, { root: `${machine}/data/docker` }] }),
    forbidden: [`${machine}/data/docker`],
  });
  const answer = await policy(request({ mounts: [{ type: 'bind', source: `${machine}/${source}`, target: '/x' }] }));
  expect(refusal(answer).errors).toEqual([
    { pointer: '/container/mounts/0/source', detail: expect.stringContaining(words) },
  ]);
});

test('a root that is for reading is mounted for reading or not at all, and the deepest root decides', async () => {
  const policy = {
    mounts: [{ root: `${machine}/data`, read_only: true }, { root: `${machine}/data/scratch` }],
  };
  const bind = (source: string, read_only: boolean): object => ({
    mounts: [{ type: 'bind', source: `${machine}/${source}`, target: '/x', read_only }],
  });
  expect(await deniedPointers(policy, bind('data/sets', false))).toEqual(['/container/mounts/0/read_only']);
  expect((await allowed(policy, bind('data/sets', true))).container.mounts[0]?.readOnly).toBe(true);
  expect((await allowed(policy, bind('data/scratch', false))).container.mounts[0]?.readOnly).toBe(false);
});

test('a policy that names things allows those and no others', async () => {
  const policy = {
    images: ['registry.local/*'],
    volumes: ['scratch-*'],
    networks: ['lan'],
    users: ['1000:*'],
    ports: ['18000-18999', 443],
    devices: ['/dev/infiniband/*'],
    cap_add: ['IPC_LOCK'],
    ipc: ['shareable'],
  };
  await allowed(policy, {
    mounts: [{ type: 'volume', source: 'scratch-1', target: '/x' }],
    network: 'lan',
    user: '1000:1000',
    ports: [
      { container: 80, host: 18999 },
      { container: 81, host: 443 },
    ],
    devices: ['/dev/infiniband/uverbs0'],
    cap_add: ['CAP_IPC_LOCK'],
    ipc: 'shareable',
  });
  const pointers = await deniedPointers(policy, {
    image: 'evil.example/x',
    mounts: [{ type: 'volume', source: 'models', target: '/x' }],
    user: '0',
    ports: [{ container: 80, host: 19000 }],
    devices: ['/dev/fuse'],
    cap_add: ['SYS_ADMIN'],
  });
  expect(pointers.toSorted()).toEqual(
    [
      '/container/cap_add/0',
      '/container/devices/0',
      '/container/image',
      '/container/ipc',
      '/container/mounts/0/source',
      '/container/network',
      '/container/ports/0/host',
      '/container/user',
    ].toSorted(),
  );
});

test("where users are named, saying nothing does not get the image's own user, which may be root", async () => {
  expect(await deniedPointers({ users: ['1000'] }, {})).toEqual(['/container/user']);
  expect((await allowed({ users: ['1000'], defaults: { user: '1000' } }, {})).container.user).toBe('1000');
});

test.each([
  ['memory', { memory_bytes: 2 ** 30 }, { memory_bytes: 2 ** 30 + 1 }, '/container/memory_bytes'],
  ['cpus', { cpus: 4 }, { cpus: 4.5 }, '/container/cpus'],
  ['shared memory', { shm_bytes: 2 ** 30 }, { shm_bytes: 2 ** 30 + 1 }, '/container/shm_bytes'],
])('%s is bounded for those who ask, and for those who do not', async (_says, max, asked, pointer) => {
  expect(await deniedPointers({ max }, asked)).toEqual([pointer]);
  const { container } = await allowed({ max }, {});
  expect(Object.values(container)).toContain(Object.values(max)[0]);
});

test('cards and pids are bounded', async () => {
  const policy = createPolicy({ rules: () => rules({ max: { cards: 1, pids: 99 } }), forbidden: [] });
  expect(refusal(await policy({ ...request({}), count: 2 })).errors?.[0]?.pointer).toBe('/count');
  expect(await policy({ ...request({}), count: 1 })).toMatchObject({ pidsLimit: 99 });
});

test('defaults fill in what was not asked, and only that', async () => {
  const policy = { defaults: { shm_bytes: 2 ** 20, memory_bytes: 2 ** 30, cpus: 2, user: '1000' } };
  expect((await allowed(policy, {})).container).toMatchObject({
    shmBytes: 2 ** 20,
    memoryBytes: 2 ** 30,
    cpus: 2,
    user: '1000',
  });
  const own = { shm_bytes: 2 ** 21, memory_bytes: 2 ** 31, cpus: 3, user: '2000' };
  expect((await allowed(policy, own)).container).toMatchObject({
    shmBytes: 2 ** 21,
    memoryBytes: 2 ** 31,
    cpus: 3,
    user: '2000',
  });
});

test('everything that is not allowed is named at once, the first in the detail', async () => {
  const answer = refusal(await ask({}, { env: { LD_PRELOAD: 'x' }, network: 'host', cap_add: ['SYS_ADMIN'] }));
  expect(answer.code).toBe('policy_denied');
  expect(answer.detail).toMatch(/^\/container\/env\/LD_PRELOAD: .* \(and 3 more\)$/);
});

type Rules = Parameters<typeof createPolicy>[0]['rules'];

function rules(file: object): Awaited<ReturnType<Rules>> {
  const parsed = parsePolicy('policy.json', JSON.stringify(file));
  if (parsed.kind === 'bad') throw new Error(parsed.problems.join('\n'));
  return parsed.value;
}

function request(container: object): Parameters<ReturnType<typeof createPolicy>>[0] {
  const parsed = parseRequest({ run_id: 'a', count: 1, container: { image: 'registry.local/train', ...container } });
  if ('kind' in parsed) throw new Error(parsed.detail);
  return parsed;
}

function ask(file: object, container: object): Promise<JobSpec | Refusal> {
  return createPolicy({ rules: () => rules(file), forbidden: [] })(request(container));
}

async function allowed(file: object, container: object): Promise<JobSpec> {
  const answer = await ask(file, container);
  if ('kind' in answer) throw new Error(JSON.stringify(answer));
  return answer;
}

function mounted(file: object, source: string): Promise<JobSpec> {
  return allowed(file, { mounts: [{ type: 'bind', source, target: '/x' }] });
}

async function deniedPointers(file: object, container: object): Promise<string[]> {
  return (refusal(await ask(file, container)).errors ?? []).map(({ pointer }) => pointer);
}

function refusal(answer: JobSpec | Refusal): Refusal {
  if (!('kind' in answer)) throw new Error('it was let through');
  expect(answer.code).toBe('policy_denied');
  return answer;
}
