import { describe, expect, test } from 'vitest';
import type { Pinned } from '../../../src/model/snapshot.js';
import {
  needsInspect,
  parseContainerList,
  parseDetails,
  toSeenContainer,
  type ListedContainer,
} from '../../../src/runtime/docker/parse-containers.js';
import { parsePinned } from '../../../src/runtime/docker/parse-pinned.js';
import { parseClaim, withDeviceRequest } from '../../../src/runtime/parse-claim.js';

const UUID = 'GPU-00000001-0000-4000-8000-000000000001';
const OTHER = 'GPU-00000002-0000-4000-8000-000000000002';

/** One list entry, read. */
function listed(entry: object): ListedContainer {
  const parsed = parseContainerList([
    { Id: 'abcdef0123456789', Names: ['/job'], State: 'running', Created: 1, ...entry },
  ]);
  if (parsed.kind === 'garbage' || parsed.value[0] === undefined) throw new Error('expected one container');
  return parsed.value[0];
}

describe('a claim', () => {
  const cards = (uuids: string[], indices: number[], unread: string[] = []) => ({ uuids, indices, unread });

  test.each<[string, Record<string, string>, object]>([
    ['by uuid is taken as written', { 'tuneplane.gpu-uuids': `${UUID},${OTHER}` }, cards([UUID, OTHER], [])],
    [
      'by uuid wins over indices, which stand beside',
      { 'tuneplane.gpu-uuids': UUID, 'tuneplane.gpus': '5' },
      { ...cards([UUID], []), indicesBeside: [5] },
    ],
    [
      'by uuid has nothing beside where the lists are not equally long',
      { 'tuneplane.gpu-uuids': UUID, 'tuneplane.gpus': '5,6' },
      cards([UUID], []),
    ],
    [
      'by uuid has the index at the place of the uuid, words and repeated ones counted',
      { 'tuneplane.gpu-uuids': `?,${UUID},${UUID},${OTHER}`, 'tuneplane.gpus': '1,2,3,x' },
      { ...cards([UUID, OTHER], [], ['?']), indicesBeside: [2, null] },
    ],
    ['by indices is today’s indices', { 'tuneplane.gpus': '0,3' }, cards([], [0, 3])],
    ['may have spaces and stray commas', { 'tuneplane.gpus': ' 0 , 3 ,' }, cards([], [0, 3])],
    ['on a card twice holds it once', { 'tuneplane.gpus': '3,3' }, cards([], [3])],
    ['on nothing is an empty label', { 'tuneplane.gpus': '' }, cards([], [])],
    ['on nothing by uuid is an empty label', { 'tuneplane.gpu-uuids': '' }, cards([], [])],
    [
      'whose uuids are empty falls back on its indices',
      { 'tuneplane.gpu-uuids': '', 'tuneplane.gpus': '2' },
      cards([], [2]),
    ],
    ['keeps what is no card number apart', { 'tuneplane.gpus': '0,-1,x,1.5,2' }, cards([], [0, 2], ['-1', 'x', '1.5'])],
    ['is not guessed at where it is a range', { 'tuneplane.gpus': '0-3' }, cards([], [], ['0-3'])],
    ['on a number beyond all numbers is unread', { 'tuneplane.gpus': '9'.repeat(30) }, cards([], [], ['9'.repeat(30)])],
    [
      'of no readable uuid falls back on its indices',
      { 'tuneplane.gpu-uuids': '?', 'tuneplane.gpus': '4' },
      cards([], [4], ['?']),
    ],
  ])('%s', (_says, labels, expected) => {
    expect(parseClaim(labels)?.cards).toEqual(expected);
  });

  test('is nobody’s without either label', () => {
    expect(parseClaim({ 'tuneplane.run_id': 'x', team: 'vision' })).toBeNull();
  });

  const given: Pinned = { kind: 'some', ids: [UUID, '7'] };
  test.each<[string, Record<string, string>, Pinned, object]>([
    ['by indices holds the uuids of its device request too', { 'tuneplane.gpus': '3' }, given, cards([UUID], [3])],
    [
      'that cannot be read is what its device request says',
      { 'tuneplane.gpus': 'x' },
      given,
      cards([UUID], [7], ['x']),
    ],
    ['by uuid needs no device request', { 'tuneplane.gpu-uuids': OTHER }, given, cards([OTHER], [])],
    ['on nothing stays on nothing', { 'tuneplane.gpus': '' }, given, cards([], [])],
    ['stands where the device request names all', { 'tuneplane.gpus': '3' }, { kind: 'all' }, cards([], [3])],
    ['stands where nobody could tell', { 'tuneplane.gpus': '3' }, { kind: 'not_told', detail: '…' }, cards([], [3])],
  ])('%s', (_says, labels, pinned, expected) => {
    const claim = parseClaim(labels);
    if (claim === null) throw new Error('expected a claim');
    expect(withDeviceRequest(claim, pinned)).toEqual(expected);
  });
});

describe('a foreign container', () => {
  const request = (more: object) => ({ HostConfig: { DeviceRequests: [{ Capabilities: [['gpu']], ...more }] } });
  const env = (...Env: string[]) => ({ Config: { Env }, HostConfig: {} });
  const some = (...ids: string[]) => ({ kind: 'some', ids });

  test.each<[string, object, object]>([
    ['without cards has none', { Config: {}, HostConfig: {} }, { kind: 'none' }],
    ['has the ids of its device request', request({ DeviceIDs: ['0', UUID] }), some('0', UUID)],
    ['may have them in one string', request({ DeviceIDs: ['1,3'] }), some('1', '3')],
    ['that asks for all has all', request({ Count: -1 }), { kind: 'all' }],
    ['that asks for two gets the first two', request({ Count: 2 }), some('0', '1')],
    [
      'has the ids of every request',
      {
        HostConfig: {
          DeviceRequests: [
            { Driver: 'nvidia', DeviceIDs: ['0'] },
            { Driver: 'nvidia', DeviceIDs: ['1'] },
          ],
        },
      },
      some('0', '1'),
    ],
    [
      'with a request for another kind of device has no card',
      { HostConfig: { DeviceRequests: [{ Driver: 'tpu', DeviceIDs: ['0'], Capabilities: [['tpu']] }] } },
      { kind: 'none' },
    ],
    [
      'has the cards of its CDI names',
      {
        HostConfig: { DeviceRequests: [{ Driver: 'cdi', DeviceIDs: ['nvidia.com/gpu=0', `nvidia.com/gpu=${UUID}`] }] },
      },
      some('0', UUID),
    ],
    [
      'with the CDI name of all has all',
      { HostConfig: { DeviceRequests: [{ Driver: 'cdi', DeviceIDs: ['nvidia.com/gpu=all'] }] } },
      { kind: 'all' },
    ],
    [
      'with another vendor’s CDI name has no card',
      { HostConfig: { DeviceRequests: [{ Driver: 'cdi', DeviceIDs: ['amd.com/gpu=0'] }] } },
      { kind: 'none' },
    ],
    [
      'has the CDI name in its annotations',
      { HostConfig: { Annotations: { 'cdi.k8s.io/gate': 'nvidia.com/gpu=3' } } },
      some('3'),
    ],
    [
      'has the CDI name among its devices',
      { HostConfig: { Devices: [{ PathOnHost: 'nvidia.com/gpu=2' }] } },
      some('2'),
    ],
    ['has the ids in its environment', env('A=b', 'NVIDIA_VISIBLE_DEVICES=0,2'), some('0', '2')],
    ['has all by its environment', env('NVIDIA_VISIBLE_DEVICES=all'), { kind: 'all' }],
    ['has none by `void`', env('NVIDIA_VISIBLE_DEVICES=void'), { kind: 'none' }],
    ['has none by `none`', env('NVIDIA_VISIBLE_DEVICES=none'), { kind: 'none' }],
    ['has none by an empty value', env('NVIDIA_VISIBLE_DEVICES='), { kind: 'none' }],
    ['has the last value of two', env('NVIDIA_VISIBLE_DEVICES=all', 'NVIDIA_VISIBLE_DEVICES=1'), some('1')],
    [
      'has what its device request says over its environment',
      {
        Config: { Env: ['NVIDIA_VISIBLE_DEVICES=all'] },
        HostConfig: { DeviceRequests: [{ Driver: 'nvidia', DeviceIDs: ['1'] }] },
      },
      some('1'),
    ],
    ['that is privileged can reach all', { HostConfig: { Privileged: true } }, { kind: 'all' }],
    [
      'has the card of its device file, whatever its image says',
      {
        ...env('NVIDIA_VISIBLE_DEVICES=all'),
        HostConfig: { Devices: [{ PathOnHost: '/dev/nvidia2' }, { PathOnHost: '/dev/nvidiactl' }] },
      },
      some('/dev/nvidia2'),
    ],
    [
      'has a card whose device file is mounted',
      { HostConfig: {}, Mounts: [{ Source: '/dev/nvidia1', Destination: '/dev/nvidia0' }] },
      some('/dev/nvidia1'),
    ],
    [
      'with all of /dev among its devices has all',
      { HostConfig: { Devices: [{ PathOnHost: '/dev' }] } },
      { kind: 'all' },
    ],
    [
      'with /dev only mounted has none by it',
      { ...env('NVIDIA_VISIBLE_DEVICES=1'), Mounts: [{ Source: '/dev', Destination: '/host/dev' }] },
      some('1'),
    ],
    // https://github.com/ROCm/container-toolkit/issues/43
    ['has what Swarm gave it', env(`DOCKER_RESOURCE_GPU=${UUID}`), some(UUID)],
    [
      'has what Swarm gave it by a shortened uuid and a kind of another name',
      env('DOCKER_RESOURCE_NVIDIA-GPU=GPU-45cbf7b,GPU-8f33'),
      some('GPU-45cbf7b', 'GPU-8f33'),
    ],
    [
      'has what Swarm gave it beside an image that says all',
      env('NVIDIA_VISIBLE_DEVICES=all', `DOCKER_RESOURCE_GPU=${UUID}`),
      some(UUID),
    ],
    ['has a card by any of Swarm’s resources that names one', env(`DOCKER_RESOURCE_ACCELERATOR=${UUID}`), some(UUID)],
    ['has none by a resource of Swarm that counts something else', env('DOCKER_RESOURCE_SSD=2'), { kind: 'none' }],
    [
      'has the cards that volume mounts name',
      {
        HostConfig: {},
        Mounts: [UUID, '3', 'cdi/nvidia.com/gpu/1', 'cdi/amd.com/gpu/5', 'imex/0'].map((id) => ({
          Source: '/dev/null',
          Destination: `/var/run/nvidia-container-devices/${id}`,
        })),
      },
      some(UUID, '3', '1'),
    ],
    [
      'has all by a volume mount',
      { HostConfig: {}, Mounts: [{ Source: '/dev/null', Destination: '/var/run/nvidia-container-devices/all' }] },
      { kind: 'all' },
    ],
    [
      'has the slices by their ids',
      env('NVIDIA_VISIBLE_DEVICES=MIG-GPU-8f33/1/0,2:1'),
      some('MIG-GPU-8f33/1/0', '2:1'),
    ],
    [
      'has the CDI names of its environment',
      env('NVIDIA_VISIBLE_DEVICES=nvidia.com/gpu=0,runtime.nvidia.com/gpu=2'),
      some('0', '2'),
    ],
    [
      'with only the control device has no card',
      { HostConfig: { Devices: [{ PathOnHost: '/dev/nvidiactl' }] } },
      { kind: 'none' },
    ],
    [
      'with nulls all over has none',
      { Config: { Env: null }, HostConfig: { DeviceRequests: null, Devices: null, Annotations: null } },
      { kind: 'none' },
    ],
    [
      'whose inspect is no inspect does not tell',
      { message: 'hello' },
      { kind: 'not_told', detail: expect.stringMatching(/was invalid/) },
    ],
  ])('%s', (_says, body, expected) => {
    expect(parsePinned(body)).toEqual(expected);
  });
});

describe('a list', () => {
  test.each<[string, unknown]>([
    ['null', Buffer.from('null')],
    ['garbage', Buffer.from('<html>bad gateway</html>')],
    ['an object', { message: 'no' }],
    ['null itself', null],
    ['a list of nulls', [null]],
    ['a list of things without ids', [{ Names: ['/a'], State: 'running' }]],
  ])('that is %s is a failed list, never an empty one', (_what, body) => {
    expect(parseContainerList(body)).toEqual({
      kind: 'garbage',
      detail: expect.stringMatching(/expected a list of containers/),
    });
  });

  test('of nothing is empty', () => {
    expect(parseContainerList([])).toEqual({ kind: 'parsed', value: [] });
  });

  test('may have entries without labels, names, state or time', () => {
    expect(listed({ Labels: null, Names: null, State: undefined, Created: null })).toEqual({
      id: 'abcdef0123456789',
      name: 'abcdef012345',
      state: 'running',
      createdAtMs: 0,
      labels: {},
      claim: null,
      image: null,
      command: null,
    });
  });

  test('tells a container’s own name from its links', () => {
    expect(listed({ Names: ['/web/db', '/db'] }).name).toBe('db');
  });

  test('counts a state that nobody knows as running', () => {
    expect(listed({ State: 'stopping' }).state).toBe('running');
    expect(listed({ State: 'Paused' }).state).toBe('paused');
  });
});

describe('an inspect', () => {
  test.each<[string, object, boolean]>([
    ['is needed of a foreign container that runs', { State: 'running' }, true],
    ['is needed of one that is paused', { State: 'paused' }, true],
    ['is needed of one that restarts', { State: 'restarting' }, true],
    ['is not needed of one that has ended', { State: 'exited' }, false],
    ['is not needed of one that never started', { State: 'created' }, false],
    ['is not needed of a claim by uuid', { Labels: { 'tuneplane.gpu-uuids': UUID } }, false],
    ['is needed of a claim by indices', { Labels: { 'tuneplane.gpus': '3' }, State: 'created' }, true],
    ['is needed of a claim that cannot be read', { Labels: { 'tuneplane.gpus': 'x' } }, true],
    ['is not needed of an ended claim', { Labels: { 'tuneplane.gpus': '3' }, State: 'exited' }, false],
    ['is not needed of a claim on nothing', { Labels: { 'tuneplane.gpus': '' } }, false],
  ])('%s', (_says, entry, needed) => {
    expect(needsInspect(listed(entry))).toBe(needed);
  });

  test('that nobody answered is passed on, and the claim by indices stands', () => {
    const seen = toSeenContainer(listed({ Labels: { 'tuneplane.gpus': '3' } }), { kind: 'not_told', detail: 'late' });
    expect(seen).toMatchObject({ claim: { indices: [3] }, pinned: { kind: 'not_told', detail: 'late' } });
  });

  test('tells how a run ended', () => {
    const State = {
      Status: 'exited',
      ExitCode: 137,
      OOMKilled: true,
      Error: '',
      StartedAt: '2026-11-29T12:00:00Z',
      FinishedAt: '2026-11-29T12:01:00Z',
    };
    expect(parseDetails({ State })).toEqual({
      kind: 'parsed',
      value: {
        exitCode: 137,
        oomKilled: true,
        error: null,
        image: null,
        startedAt: State.StartedAt,
        finishedAt: State.FinishedAt,
      },
    });
  });

  test('tells why a run never started, and gives no moment that never was', () => {
    const State = {
      Status: 'created',
      ExitCode: 128,
      Error: 'no device',
      StartedAt: '0001-01-01T00:00:00Z',
      FinishedAt: '0001-01-01T00:00:00Z',
    };
    expect(parseDetails({ State })).toMatchObject({
      value: { exitCode: null, error: 'no device', startedAt: null, finishedAt: null },
    });
  });

  test('without a state is garbage', () => {
    expect(parseDetails(Buffer.from('null'))).toMatchObject({ kind: 'garbage' });
  });
});
