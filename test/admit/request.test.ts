import { readFileSync, existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseRequest } from '../../src/admit/request.js';
import type { JobRequest, Refusal } from '../../src/model/admission.js';

const image = 'registry.local/train:1.4';
const smallest = { run_id: 'train-17', count: 2, container: { image } };
const withContainer = (more: object): unknown => ({ ...smallest, container: { image, ...more } });

const whole = {
  run_id: 'train-17',
  count: 2,
  container: {
    image,
    command: ['python', 'train.py'],
    env: { EPOCHS: '3' },
    working_dir: '/work',
    user: '1000:1000',
    entrypoint: ['/bin/sh'],
    shm_bytes: 8589934592,
    memory_bytes: 68719476736,
    cpus: 8,
    mounts: [
      { type: 'bind', source: '/data/sets', target: '/data', read_only: true },
      { type: 'volume', source: 'scratch', target: '/scratch' },
    ],
    network: 'bridge',
    labels: { team: 'vision' },
    ulimits: { memlock: -1, stack: 67108864, nofile: 65536 },
    ports: [{ container: 8080, host: 18080 }],
    devices: ['/dev/infiniband/uverbs0'],
    cap_add: ['CAP_IPC_LOCK'],
    ipc: 'private',
  },
};

test('a request may say every field there is, and each of them arrives', () => {
  expect(accepted(whole)).toEqual({
    runId: 'train-17',
    count: 2,
    specSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    container: {
      image,
      command: ['python', 'train.py'],
      env: { EPOCHS: '3' },
      workingDir: '/work',
      user: '1000:1000',
      entrypoint: ['/bin/sh'],
      shmBytes: 8589934592,
      memoryBytes: 68719476736,
      cpus: 8,
      mounts: [
        { type: 'bind', source: '/data/sets', target: '/data', readOnly: true },
        { type: 'volume', source: 'scratch', target: '/scratch', readOnly: false },
      ],
      network: 'bridge',
      labels: { team: 'vision' },
      ulimits: { memlock: -1, stack: 67108864, nofile: 65536 },
      ports: [{ container: 8080, host: 18080 }],
      devices: ['/dev/infiniband/uverbs0'],
      capAdd: ['IPC_LOCK'],
      ipc: 'private',
    },
  });
});

test('a request says nothing of what it does not ask', () => {
  expect(accepted(smallest).container).toEqual({
    image,
    env: {},
    mounts: [],
    labels: {},
    ulimits: {},
    ports: [],
    devices: [],
    capAdd: [],
  });
});

test.each([
  ['0 cards', '0', 0],
  ['minus zero cards', '-0', 0],
  ['a whole number written with a point', '2.0', 2],
  ['a thousand million cards, which only the machine can refuse', '1e9', 1_000_000_000],
])('count may be %s', (_says, written, count) => {
  const request = accepted(JSON.parse(`{"run_id":"a","count":${written},"container":{"image":"a"}}`));
  expect(Object.is(request.count, count)).toBe(true);
});

test.each([
  '-1',
  '1.5',
  '"2"',
  '"0x2"',
  '"NaN"',
  '""',
  'null',
  'true',
  '[1]',
  '{"n":1}',
  '9007199254740993',
  '1e999',
  '1e400',
])('count is never %s', (written) => {
  const refusal = refused(JSON.parse(`{"run_id":"a","count":${written},"container":{"image":"a"}}`));
  expect(refusal.errors?.map(({ pointer }) => pointer)).toEqual(['/count']);
  expect(refusal.detail).toMatch(/^\/count: expected a whole number of cards, 0 or more, as a JSON number; got /);
});

test('count has no default', () => {
  expect(refused({ run_id: 'a', container: { image } }).detail).toMatch(/^\/count: missing; expected a whole number/);
});

test.each([
  ['an unknown key', { ...smallest, gpus: 2 }, '/gpus'],
  ['an unknown key in the container', withContainer({ privileged: true }), '/container/privileged'],
  [
    'an unknown key in a mount',
    withContainer({ mounts: [{ ...whole.container.mounts[0], propagation: 'shared' }] }),
    '/container/mounts/0/propagation',
  ],
  [
    'an unknown key in a port',
    withContainer({ ports: [{ container: 1, host: 2, ip: '0.0.0.0' }] }),
    '/container/ports/0/ip',
  ],
  [
    'a key that V8 takes for the prototype',
    JSON.parse('{"run_id":"a","count":1,"container":{"image":"a"},"__proto__":{"x":1}}'),
    '/__proto__',
  ],
  [
    'the same in env',
    JSON.parse('{"run_id":"a","count":1,"container":{"image":"a","env":{"__proto__":"x"}}}'),
    '/container/env/__proto__',
  ],
  ['a list instead of an object', [smallest], ''],
  ['nothing', undefined, ''],
  ['no container', { run_id: 'a', count: 1 }, '/container'],
  ['no image', { ...smallest, container: {} }, '/container/image'],
  ['an empty run_id', { ...smallest, run_id: '' }, '/run_id'],
  ['a run_id with a slash', { ...smallest, run_id: 'a/b' }, '/run_id'],
  ['a run_id that starts with a dot', { ...smallest, run_id: '.a' }, '/run_id'],
  ['a run_id of 64 characters', { ...smallest, run_id: 'a'.repeat(64) }, '/run_id'],
  ['a run_id with a line end', { ...smallest, run_id: 'a\n' }, '/run_id'],
  ['an image in upper case', withContainer({ image: 'Train' }), '/container/image'],
  ['an image with a space', withContainer({ image: 'a b' }), '/container/image'],
  ['an image that looks like a flag', withContainer({ image: '--privileged' }), '/container/image'],
  ['a command as one text', withContainer({ command: 'python train.py' }), '/container/command'],
  ['a command with NUL', withContainer({ command: ['a\0b'] }), '/container/command/0'],
  ['an empty entrypoint', withContainer({ entrypoint: [] }), '/container/entrypoint'],
  ['a number in env', withContainer({ env: { EPOCHS: 3 } }), '/container/env/EPOCHS'],
  ['an env name with "="', withContainer({ env: { 'A=B': 'x' } }), '/container/env/A=B'],
  ['an env name with a dash', withContainer({ env: { 'A-B': 'x' } }), '/container/env/A-B'],
  ['env as a list', withContainer({ env: ['A=B'] }), '/container/env'],
  ['a relative working_dir', withContainer({ working_dir: 'work' }), '/container/working_dir'],
  ['a user with a space', withContainer({ user: 'a b' }), '/container/user'],
  ['a user of three parts', withContainer({ user: '1:2:3' }), '/container/user'],
  ['null for a user', withContainer({ user: null }), '/container/user'],
  ['no shared memory', withContainer({ shm_bytes: 0 }), '/container/shm_bytes'],
  ['memory below what Docker takes', withContainer({ memory_bytes: 6 * 1024 ** 2 - 1 }), '/container/memory_bytes'],
  ['memory as a text', withContainer({ memory_bytes: '8g' }), '/container/memory_bytes'],
  ['0 cpus', withContainer({ cpus: 0 }), '/container/cpus'],
  ['minus one cpu', withContainer({ cpus: -1 }), '/container/cpus'],
  ['a tmpfs', withContainer({ mounts: [{ type: 'tmpfs', target: '/x' }] }), '/container/mounts/0/type'],
  [
    'a relative source',
    withContainer({ mounts: [{ type: 'bind', source: 'data', target: '/x' }] }),
    '/container/mounts/0/source',
  ],
  [
    'a relative target',
    withContainer({ mounts: [{ type: 'bind', source: '/data', target: 'x' }] }),
    '/container/mounts/0/target',
  ],
  [
    'the root as a target',
    withContainer({ mounts: [{ type: 'bind', source: '/data', target: '//' }] }),
    '/container/mounts/0/target',
  ],
  [
    'a volume that is a path',
    withContainer({ mounts: [{ type: 'volume', source: '/etc', target: '/x' }] }),
    '/container/mounts/0/source',
  ],
  [
    'a target twice',
    withContainer({
      mounts: [
        { type: 'volume', source: 'aa', target: '/x' },
        { type: 'volume', source: 'bb', target: '/x/' },
      ],
    }),
    '/container/mounts/1/target',
  ],
  ["another container's network", withContainer({ network: 'container:abc' }), '/container/network'],
  ['a number as a label', withContainer({ labels: { team: 3 } }), '/container/labels/team'],
  ['a label without a name', withContainer({ labels: { '': 'x' } }), '/container/labels/'],
  ['an unknown ulimit', withContainer({ ulimits: { files: 3 } }), '/container/ulimits/files'],
  ['a ulimit of -2', withContainer({ ulimits: { nofile: -2 } }), '/container/ulimits/nofile'],
  ['port 0', withContainer({ ports: [{ container: 80, host: 0 }] }), '/container/ports/0/host'],
  ['port 65536', withContainer({ ports: [{ container: 65536, host: 80 }] }), '/container/ports/0/container'],
  [
    'a host port twice',
    withContainer({
      ports: [
        { container: 1, host: 80 },
        { container: 2, host: 80 },
      ],
    }),
    '/container/ports/1/host',
  ],
  ['a device that is none', withContainer({ devices: ['/etc/passwd'] }), '/container/devices/0'],
  ['a device with its rights', withContainer({ devices: ['/dev/fuse:/dev/fuse:rwm'] }), '/container/devices/0'],
  ['a capability in lower case', withContainer({ cap_add: ['ipc_lock'] }), '/container/cap_add/0'],
  ["another container's ipc", withContainer({ ipc: 'container:abc' }), '/container/ipc'],
])('%s is refused by its field', (_says, body, pointer) => {
  expect(refused(body).errors?.map((error) => error.pointer)).toEqual([pointer]);
});

test('every mistake is named at once', () => {
  const { errors, detail } = refused({ run_id: 'a b', count: '2', container: { image: 'X', env: { A: 1 } } });
  expect(errors).toEqual([
    {
      pointer: '/run_id',
      detail: 'expected a name of 1 to 63 letters, digits, _ . and -, the first a letter or digit; got "a b"',
    },
    { pointer: '/count', detail: 'expected a whole number of cards, 0 or more, as a JSON number; got "2"' },
    {
      pointer: '/container/image',
      detail: `expected an image's name as docker pull takes it, its repository in lower case; got "X"`,
    },
    {
      pointer: '/container/env/A',
      detail: 'expected a string of at most 131071 characters, without NUL; got a number',
    },
  ]);
  expect(detail).toMatch(/^\/run_id: .* \(and 3 more\)$/);
});

test('an unknown key is answered with the known ones', () => {
  expect(refused({ ...smallest, Count: 1 }).errors).toEqual([
    { pointer: '/Count', detail: 'unknown key; known here: run_id, count, container' },
  ]);
});

test('what came in env, command or entrypoint is described and never repeated', () => {
  const refusal = refused(
    withContainer({ env: { TOKEN: 'hunter2\0' }, command: ['hunter2\0'], entrypoint: ['hunter2\0'] }),
  );
  expect(refusal.errors).toHaveLength(3);
  expect(JSON.stringify(refusal)).not.toContain('hunter2');
});

test('a body full of mistakes gets fifty of them and the number of the rest', () => {
  const body = Object.fromEntries(Array.from({ length: 4_000 }, (_none, at) => [`key${at}`, 1]));
  const { errors } = refused({ ...smallest, ...body });
  expect(errors).toHaveLength(51);
  expect(errors?.at(-1)).toEqual({ pointer: '', detail: 'and 3950 more mistakes' });
});

test('a body of a hundred thousand levels is refused like any other', () => {
  const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
  expect(refused(deep).code).toBe('invalid_request');
});

test.each([
  ['ubuntu'],
  ['ubuntu:22.04'],
  ['team/sub/train'],
  ['localhost:5000/train:1.4'],
  [`registry.local/train@sha256:${'a'.repeat(64)}`],
  [`sha256:${'a'.repeat(64)}`],
  ['a__b/c-d.e'],
])('%s is an image', (name) => {
  expect(accepted(withContainer({ image: name })).container.image).toBe(name);
});

test('the order of keys does not make another request', () => {
  const turned = { container: { ...smallest.container }, count: 2, run_id: 'train-17' };
  expect(accepted(turned).specSha256).toBe(accepted(smallest).specSha256);
});

test.each([
  ['another count', { ...smallest, count: 1 }],
  ['another run_id', { ...smallest, run_id: 'train-18' }],
  ['a word about init, also the one that goes without saying', withContainer({ init: true })],
  ['another value in env', withContainer({ env: { A: 'b' } })],
  ['arguments in another order', withContainer({ command: ['b', 'a'] })],
])('%s makes another request', (_says, body) => {
  const hashes = [body, smallest, withContainer({ command: ['a', 'b'] })].map((each) => accepted(each).specSha256);
  expect(new Set(hashes).size).toBe(3);
});

const cases = new URL('../../../shared/cases/open.jsonl', import.meta.url);
const reported = existsSync(cases)
  ? readFileSync(cases, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"A01"'))
      .map((line) => JSON.parse(line) as { input: { values: unknown[] } })
      .flatMap(({ input }) => input.values)
  : [0, -1, 1e9, 'absent'];

test.each(reported.map((value) => [JSON.stringify(value), value]))(
  'as reported from the field, a count of %s is either a number of cards or refused by name',
  (_says, value) => {
    const asked = value === 'absent' ? { run_id: 'a', container: { image } } : { ...smallest, count: value };
    const answer = parseRequest(asked);
    const outcome = 'kind' in answer ? answer.errors?.map(({ pointer }) => pointer) : answer.count;
    expect(outcome).toEqual(value === 0 || value === 1e9 ? value : ['/count']);
  },
);

function accepted(body: unknown): JobRequest {
  const answer = parseRequest(body);
  if ('kind' in answer) throw new Error(answer.detail);
  return answer;
}

function refused(body: unknown): Refusal {
  const answer = parseRequest(body);
  if (!('kind' in answer)) throw new Error('the request was let through');
  expect(answer.code).toBe('invalid_request');
  return answer;
}
