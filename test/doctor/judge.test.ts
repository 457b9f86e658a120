import { describe, expect, test } from 'vitest';
import type { EngineInfo, EngineVersion } from '../../src/docker/engine-facts.js';
import * as cards from '../../src/doctor/judge-cards.js';
import * as docker from '../../src/doctor/judge-docker.js';
import { judgeFolder, judgePlaces, judgeRuleFile } from '../../src/doctor/judge-places.js';
import * as redis from '../../src/doctor/judge-redis.js';
import type { RedisFacts } from '../../src/lock/redis/facts.js';
import { cardIndex } from '../../src/model/card.js';
import type { GpuRow, GpusSeen, Probed } from '../../src/model/snapshot.js';
import { parseGpuRows } from '../../src/probe/nvidia-smi/parse-gpu-rows.js';
import type { ListenAddress } from '../../src/settings/addresses.js';
import { uuidOf } from '../support/jobs.js';

/** Rows as the parser makes them: index, uuid, persistence mode, memory in use. */
function rows(...lines: readonly (readonly [mode: string, usedMib: number])[]): readonly GpuRow[] {
  const text = lines.map(([mode, used], index) => `${index}, ${uuidOf(index)}, ${mode}, ${used}\n`).join('');
  return parseGpuRows(text, ['index', 'uuid', 'persistence_mode', 'memory.used']).rows;
}

function seen<T>(value: T, tookMs = 90): Probed<T> {
  return { kind: 'seen', value, tookMs };
}
const BLIND: Probed<never> = { kind: 'blind', why: 'unavailable', detail: 'nobody there', tookMs: 1 };

function machine(part: Partial<GpusSeen> = {}, tookMs = 90): Probed<GpusSeen> {
  const two = rows(['Enabled', 4], ['Enabled', 4]);
  return seen({ rows: two, broken: [], driverCount: 2, driverVersion: '590.48.01', ...part }, tookMs);
}

describe('of the cards', () => {
  test.each([
    ['a quick look is fine', machine(), 'ok', '2 cards in 90 ms, driver 590.48.01'],
    ['one that could not see is an error', BLIND, 'error', 'nobody there'],
    ['a slow one is a warning', machine({}, 2500), 'warning', 'in 2500 ms'],
    [
      'a card that the driver complains about is one too',
      machine({ broken: [{ index: null, pciBusId: '00000000:1B:00.0', words: 'GPU is lost.', denied: false }] }),
      'warning',
      '00000000:1B:00.0: GPU is lost.',
    ],
  ])('%s', (_says, look, state, words) => {
    expect(cards.judgeNvidiaSmi(look, 10_000)).toMatchObject({ state, says: expect.stringContaining(words) });
  });

  test.each([
    ['persistence mode on all is fine', machine(), 'ok', 'on for all'],
    ['off on one is a warning', machine({ rows: rows(['Enabled', 4], ['Disabled', 4]) }), 'warning', 'off on card 1:'],
    ['a driver that does not say is not fine', machine({ rows: rows(['[N/A]', 4]) }), 'unknown', 'card 0'],
    ['cards not seen have none', BLIND, 'unknown', 'no cards'],
  ])('%s', (_says, look, state, words) => {
    expect(cards.judgePersistence(look)).toMatchObject({ state, says: expect.stringContaining(words) });
  });

  const nobody = seen({ processes: [], unreadable: 0 });
  const somebody = seen({ processes: [{ uuid: uuidOf(1), pid: 7, name: 'python', memoryMib: 900 }], unreadable: 0 });
  const busy = machine({ rows: rows(['Enabled', 4], ['Enabled', 900]) });
  test.each([
    ['a process on the card that is in use is fine', busy, somebody, true, 'ok', '1 process listed'],
    ['memory in use by nobody is a warning', busy, nobody, true, 'warning', 'card 1: 900 MiB'],
    ['nobody on idle cards is fine on the host', machine(), nobody, true, 'ok', 'process namespace'],
    ['and cannot be told in a container', machine(), nobody, false, 'unknown', 'unknown whether'],
    ['a driver without a list is a warning', busy, seen({ processes: [], unreadable: 2 }), true, 'warning', '2 cards'],
    ['a list that failed is a warning', machine(), BLIND, true, 'warning', 'nobody there'],
  ])('%s', (_says, look, processes, firstNamespace, state, words) => {
    const facts = { processes, memoryBusyMib: 512, firstNamespace };
    expect(cards.judgeProcessList(look, facts)).toMatchObject({ state, says: expect.stringContaining(words) });
  });

  test('a card that was seen before and is not there now is an error', () => {
    const [here, gone] = [0, 6].map((index) => ({
      uuid: uuidOf(index),
      index: cardIndex(index),
      name: '',
      pciBusId: '',
    }));
    expect(cards.judgeCount(machine(), 0, here === undefined ? [] : [here]).state).toBe('ok');
    const verdict = cards.judgeCount(machine(), 2, gone === undefined ? [] : [gone]);
    expect(verdict).toMatchObject({ state: 'error', says: expect.stringContaining(`card 6 (${uuidOf(6)})`) });
  });

  test.each([
    ['as many as configured is fine', machine(), 2, 'ok', '2 cards, as configured'],
    ['without a number what the driver counts is', machine(), 0, 'ok', 'as many as the driver counts'],
    ['fewer is an error', machine(), 8, 'error', '2 cards seen, TUNEPLANE_LOCAL_GPU_COUNT says 8'],
    ['more is a warning', machine(), 1, 'warning', 'never handed out'],
    ['fewer than the driver counts is an error', machine({ driverCount: 3 }), 0, 'error', 'counts 3 cards and shows 2'],
  ])('%s', (_says, look, configured, state, words) => {
    expect(cards.judgeCount(look, configured, [])).toMatchObject({ state, says: expect.stringContaining(words) });
  });
});

const VERSION: EngineVersion = { version: '29.0.1', apiVersion: '1.52', os: 'linux', arch: 'amd64', podman: null };
const INFO: EngineInfo = {
  dataRoot: '/var/lib/docker',
  containerd: null,
  runtimes: ['runc'],
  defaultRuntime: 'runc',
  cdiFolders: [],
  cdiDevices: [],
  cgroupDriver: 'cgroupfs',
  rootless: false,
};
const info = (part: Partial<EngineInfo>) => seen({ ...INFO, ...part });

describe('of Docker', () => {
  test.each([
    ['an answer is fine', seen(VERSION), 'ok', '29.0.1', null],
    ['none is an error', BLIND, 'error', 'nobody there', 'start Docker'],
    [
      'a socket that may not be opened asks for its group',
      { ...BLIND, detail: 'connect EACCES /var/run/docker.sock' },
      'error',
      'EACCES',
      'group',
    ],
  ])('%s', (_says, version, state, words, todo) => {
    const verdict = docker.judgeDocker(version, 'unix:///d.sock');
    expect(verdict).toMatchObject({ state, says: expect.stringContaining(words) });
    expect(verdict.todo ?? '').toContain(todo ?? '');
  });

  test.each([
    ['1.52', 'ok'],
    ['1.40', 'ok'],
    ['1.39', 'error'],
    ['nonsense', 'error'],
  ])('API %s is %s', (apiVersion, state) => {
    expect(docker.judgeApi(seen({ ...VERSION, apiVersion })).state).toBe(state);
  });

  test('Podman is an error, and Docker is not', () => {
    expect(docker.judgePodman(seen({ ...VERSION, podman: 'Podman Engine' }))).toMatchObject({ state: 'error' });
    expect(docker.judgePodman(seen(VERSION)).state).toBe('ok');
  });

  const byUuid = info({ cdiDevices: ['nvidia.com/gpu=0', `nvidia.com/gpu=${uuidOf(0)}`] });
  test.each([
    ['the hook is fine', info({}), seen('/usr/bin/hook'), 'ok', '/usr/bin/hook'],
    ['the registered runtime is fine', info({ runtimes: ['runc', 'nvidia'] }), seen(null), 'ok', 'runtime nvidia'],
    ['CDI with a name for each uuid is fine', byUuid, seen(null), 'ok', 'CDI'],
    [
      'CDI without one is a warning',
      info({ cdiDevices: ['nvidia.com/gpu=0'] }),
      seen('/usr/bin/hook'),
      'warning',
      uuidOf(0),
    ],
    ['nothing of it is an error', info({}), seen(null), 'error', 'could not select device driver'],
    ['a hook that could not be looked for is unknown', info({}), BLIND, 'unknown', 'nobody there'],
  ])('%s', (_says, told, hook, state, words) => {
    const verdict = docker.judgeGpuSupport(told, { hook, uuids: [uuidOf(0)] });
    expect(verdict).toMatchObject({ state, says: expect.stringContaining(words) });
  });

  test.each([
    ['nothing is started unless asked for', null, 'skipped'],
    ['a start with a card is fine', { kind: 'accepted' } as const, 'ok'],
    ['one that failed is an error', { kind: 'refused', detail: 'no driver' } as const, 'error'],
    ['an image that is not here tells nothing', { kind: 'no_image' } as const, 'unknown'],
    ['nor does silence', { kind: 'in_doubt', detail: 'late' } as const, 'unknown'],
  ])('%s', (_says, tried, state) => expect(docker.judgeTried(tried).state).toBe(state));

  test.each([
    ['cgroupfs is fine', INFO, 'ok'],
    ['systemd with the hook loses cards at a daemon-reload', { ...INFO, cgroupDriver: 'systemd' }, 'warning'],
    ['systemd with CDI is fine', { ...INFO, cgroupDriver: 'systemd', cdiDevices: ['nvidia.com/gpu=all'] }, 'ok'],
  ])('%s', (_says, told, state) => {
    const verdict = docker.judgeCgroupDriver(seen(told));
    expect(verdict.state).toBe(state);
    expect(verdict.todo ?? 'CDI').toContain('CDI');
  });

  const greedy = seen({ images: [{ name: 'cuda:12', env: ['NVIDIA_VISIBLE_DEVICES=all'] }], unanswered: 0 });
  const plain = seen({ images: [{ name: 'busybox', env: ['NVIDIA_VISIBLE_DEVICES=void'] }], unanswered: 0 });
  const nvidia = info({ defaultRuntime: 'nvidia' });
  test.each([
    ['no greedy image is fine', plain, nvidia, null, 'ok'],
    ['one is fine while runc is the default', greedy, info({}), null, 'ok'],
    ['one is a warning where nvidia is', greedy, nvidia, null, 'warning'],
    ['but not where the toolkit does not heed it', greedy, nvidia, false, 'ok'],
    ['and is where it says that it does', greedy, nvidia, true, 'warning'],
  ])('%s', (_says, images, told, envHeeded, state) => {
    expect(docker.judgeImages(images, told, { envHeeded }).state).toBe(state);
  });

  test.each([
    ['no limit on locked memory is fine', -1, 1, 'ok'],
    ['a limit is a warning', 8_388_608, 1, 'warning'],
    ['a daemon that cannot be seen tells nothing', -1, 0, 'unknown'],
  ])('%s', (_says, bytes, daemons, state) => {
    expect(docker.judgeMemlock(seen(VERSION), bytes, daemons).state).toBe(state);
  });

  test('an engine that does not answer leaves everything else unknown, and no second error', () => {
    const verdicts = [
      docker.judgeApi(BLIND),
      docker.judgePodman(BLIND),
      docker.judgeGpuSupport(BLIND, { hook: BLIND, uuids: [] }),
      docker.judgeCgroupDriver(BLIND),
      docker.judgeImages(BLIND, BLIND, { envHeeded: null }),
      docker.judgeMemlock(BLIND, -1, 1),
    ];
    expect(new Set(verdicts.map(({ state }) => state))).toEqual(new Set(['unknown']));
  });
});

const REDIS: RedisFacts = {
  version: '7.0.15',
  refusesWrites: null,
  role: 'master',
  policy: 'noeviction',
  evicts: null,
  aheadMs: 3,
  holder: 'nobody',
  gates: [{ address: '127.0.0.1', ours: true }],
};
const told = (part: Partial<RedisFacts> = {}) => ({ kind: 'told' as const, facts: { ...REDIS, ...part } });

describe('of Redis', () => {
  test.each([
    ['one that takes writes is fine', redis.judgeRedis(told()), 'ok'],
    ['one that takes none is an error', redis.judgeRedis(told({ refusesWrites: 'OOM command not allowed' })), 'error'],
    ['one that is away is an error', redis.judgeRedis({ kind: 'failed', detail: 'refused' }), 'error'],
    ['a master is fine', redis.judgeRole(told()), 'ok'],
    ['a replica is an error', redis.judgeRole(told({ role: 'replica' })), 'error'],
    ['keeping all keys is fine', redis.judgeEviction(told()), 'ok'],
    ['a policy that nothing sets off is fine', redis.judgeEviction(told({ policy: 'allkeys-lru' })), 'ok'],
    ['one that throws locks away is a warning', redis.judgeEviction(told({ evicts: 'may evict' })), 'warning'],
    ['one clock is fine', redis.judgeClock(told()), 'ok'],
    ['two clocks are a warning', redis.judgeClock(told({ aheadMs: -90_000 })), 'warning'],
    ['what is not told is unknown', redis.judgeClock(told({ aheadMs: null })), 'unknown'],
    ['what was not asked is unknown', redis.judgeRole({ kind: 'failed', detail: 'refused' }), 'unknown'],
  ])('%s', (_says, verdict, state) => expect(verdict.state).toBe(state));

  const standardKey = 'gpu-alloc:leader';
  const away = [...(REDIS.gates ?? []), { address: '10.0.0.7', ours: false }];
  const token = '1795953600000-0123456789abcdef';
  test.each([
    ['a key of this machine alone is fine', {}, standardKey, 'ok', 'nobody holds it now'],
    ['gates elsewhere and the key that all have is a warning', { gates: away }, standardKey, 'warning', '10.0.0.7'],
    ['gates elsewhere and a key of our own is fine', { gates: away }, 'gpu-01', 'ok', 'the key here is gpu-01'],
    ['a holder is told with its time', { holder: { token, endsInMs: 9500 } }, standardKey, 'ok', 'for 10 s more'],
    ['one that never ends is an error', { holder: { token, endsInMs: -1 } }, standardKey, 'error', 'without a time'],
    ['who is connected may not be told', { gates: null }, standardKey, 'unknown', 'clients are unknown'],
  ])('%s', (_says, part, key, state, words) => {
    const verdict = redis.judgeKey(told(part), { key, standardKey });
    expect(verdict).toMatchObject({ state, says: expect.stringContaining(words) });
  });
});

describe('of files and places', () => {
  test.each([
    ['a file for its owner is fine', 0o100600, [], 'ok', 'mode 600'],
    ['one with a problem is an error', 0o100600, ['line 3: no'], 'error', 'line 3'],
    ['one that everybody may write is an error', 0o100642, [], 'error', 'everybody'],
    ['one that its group may write is a warning', 0o100660, [], 'warning', 'group'],
  ])('%s', (_says, mode, problems, state, words) => {
    const verdict = judgeRuleFile({ path: 'tokens', mode, problems }, 'mend it');
    expect(verdict).toMatchObject({ state, says: expect.stringContaining(words) });
  });

  const here: ListenAddress = { kind: 'tcp', host: '127.0.0.1', port: 9840 };
  test.each([
    ['a free address is fine', { kind: 'free' } as const, 'ok', '127.0.0.1:9840: free'],
    ['a gate that is ready is fine', { kind: 'gate', ready: true, detail: '' } as const, 'ok', 'a gate answers'],
    [
      'one that is not is a warning',
      { kind: 'gate', ready: false, detail: 'lock: no' } as const,
      'warning',
      'lock: no',
    ],
    ['another program is an error', { kind: 'taken' } as const, 'error', 'another program'],
    ['an address of nobody is an error', { kind: 'refused', detail: 'EACCES' } as const, 'error', 'EACCES'],
  ])('%s', (_says, place, state, words) => {
    expect(judgePlaces([[here, place]])).toMatchObject({ state, says: expect.stringContaining(words) });
  });

  const folder = { kind: 'there', folder: '/s', held: false, openToOthers: false, freeBytes: 1e12 } as const;
  test.each([
    ['a folder that takes files is fine', folder, false, 'ok'],
    ['one that can be made is fine', { kind: 'can_be_made', folder: '/s' } as const, false, 'ok'],
    ['one that the running gate holds is fine', { ...folder, held: true }, true, 'ok'],
    ['one that another gate holds is an error', { ...folder, held: true }, false, 'error'],
    ['a full disk is an error', { ...folder, freeBytes: 4096 }, false, 'error'],
    ['one that others may write is a warning', { ...folder, openToOthers: true }, false, 'warning'],
    ['none at all is an error', { kind: 'none', detail: '/s: EROFS' } as const, false, 'error'],
  ])('%s', (_says, facts, gateAnswers, state) => expect(judgeFolder(facts, gateAnswers).state).toBe(state));
});
