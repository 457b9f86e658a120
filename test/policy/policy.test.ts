import { expect, test } from 'vitest';
import { parseRequest } from '../../src/admit/request.js';
import type { JobSpec, Refusal } from '../../src/model/admission.js';
import { parsePolicy } from '../../src/policy/policy-file.js';
import { createPolicy } from '../../src/policy/policy.js';
import { nothingOffLimits } from '../support/off-limits.js';

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
  const withDefault = { users: ['1000'], defaults: { user: '1000:1000' } };
  expect((await allowed(withDefault, {})).container.user).toBe('1000:1000');
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

test('a bounded ulimit is bounded for those who ask, for those who ask for none at all, and for those who do not ask', async () => {
  const policy = { max: { ulimits: { nofile: 1024, memlock: 65_536 } } };
  expect(await deniedPointers(policy, { ulimits: { nofile: 1025 } })).toEqual(['/container/ulimits/nofile']);
  expect(await deniedPointers(policy, { ulimits: { memlock: -1 } })).toEqual(['/container/ulimits/memlock']);
  const { container } = await allowed(policy, { ulimits: { nofile: 512, stack: -1 } });
  expect(container.ulimits).toEqual({ nofile: 512, stack: -1, memlock: 65_536 });
  expect((await allowed({}, { ulimits: { nofile: 1e9, memlock: -1 } })).container.ulimits).toEqual({
    nofile: 1e9,
    memlock: -1,
  });
});

test('where labels are named, those of other tools are not to be had', async () => {
  const policy = { labels: ['team', 'org.example.*'] };
  await allowed(policy, { labels: { team: 'vision', 'org.example.a/b': '1' } });
  const labels = { 'traefik.enable': 'true', 'ofelia.job-exec.x/command': 'sh', team: 'vision' };
  expect(await deniedPointers(policy, { labels })).toEqual([
    '/container/labels/traefik.enable',
    '/container/labels/ofelia.job-exec.x~1command',
  ]);
  await allowed({}, { labels });
  // Refused whatever a policy says, and told once.
  expect(await deniedPointers(policy, { labels: { 'com.docker.x': '1' } })).toEqual(['/container/labels/com.docker.x']);
});

test('cards and pids are bounded', async () => {
  const policy = createPolicy({ rules: () => rules({ max: { cards: 1, pids: 99 } }), offLimits: nothingOffLimits });
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
  return createPolicy({ rules: () => rules(file), offLimits: nothingOffLimits })(request(container));
}

async function allowed(file: object, container: object): Promise<JobSpec> {
  const answer = await ask(file, container);
  if ('kind' in answer) throw new Error(JSON.stringify(answer));
  return answer;
}

async function deniedPointers(file: object, container: object): Promise<string[]> {
  return (refusal(await ask(file, container)).errors ?? []).map(({ pointer }) => pointer);
}

function refusal(answer: JobSpec | Refusal): Refusal {
  if (!('kind' in answer)) throw new Error('it was let through');
  expect(answer.code).toBe('policy_denied');
  return answer;
}
