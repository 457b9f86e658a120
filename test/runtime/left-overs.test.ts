import { describe, expect, test, vi } from 'vitest';
import { LABEL } from '../../src/model/labels.js';
import type { SeenContainer } from '../../src/model/snapshot.js';
import type { Standpoint } from '../../src/occupancy/left-behind.js';
import { createCreatedSince } from '../../src/runtime/created-since.js';
import { isLeftOver, startSweeping, sweepLeftOvers } from '../../src/runtime/left-overs.js';
import { countingMeter, quietLog } from '../support/admissions.js';
import { fakeRuntime } from '../support/fake-runtime.js';

/** `past`: the containers that have been seen created for longer than the grace. */
const from = (past: readonly string[] = [], over: Partial<Standpoint> = {}): Standpoint => ({
  instanceId: 'me',
  alone: false,
  isUnderWay: () => false,
  isPastGrace: (id) => past.includes(id),
  ...over,
});

function created(over: Partial<SeenContainer> = {}, labels: Record<string, string> = {}): SeenContainer {
  return {
    id: 'x',
    name: 'tuneplane-train',
    state: 'created',
    outOfReach: false,
    // From a clock that is an hour behind, or a day ahead: nothing is read from it.
    createdAtMs: Date.UTC(2031, 0, 1),
    labels: {
      [LABEL.runId]: 'train',
      [LABEL.specSha256]: 'sha',
      [LABEL.admittedBy]: 'other',
      [LABEL.life]: 'other-life',
      [LABEL.admittedAt]: '2031-01-01T00:00:00.000Z',
      ...labels,
    },
    claim: { uuids: [], indices: [], unread: [] },
    pinned: { kind: 'none' },
    ...over,
  };
}

const ours = { [LABEL.admittedBy]: 'me', [LABEL.life]: 'earlier' };

describe('a left-over is', () => {
  test.each([
    ['a container of another gate once the grace is over', created(), from(['x']), true],
    ['not one of another gate before that', created(), from(), false],
    ['one of another gate at once, where none but this can be at work', created(), from([], { alone: true }), true],
    ['one of an earlier life of this instance at once', created({}, ours), from(), true],
    ['one of a version that wrote no life', created({}, { [LABEL.admittedBy]: 'me', [LABEL.life]: '' }), from(), true],
    ['not one that this process is at', created({}, ours), from(['x'], { isUnderWay: () => true }), false],
    ['not one that runs', created({ state: 'running' }), from(['x']), false],
    ['not one that has ended', created({ state: 'exited' }), from(['x']), false],
    ["not an older agent's, which has no hash", created({}, { [LABEL.specSha256]: '' }), from(['x']), false],
  ] as const)('%s', (_says, container, standpoint, expected) => {
    expect(isLeftOver(container, standpoint)).toBe(expected);
  });
});

describe('the grace', () => {
  test('is counted from when this process saw it created, by id, whatever the wall clock says', () => {
    let now = 0;
    const since = createCreatedSince({ monotonic: () => now });
    since.see([created()], true);
    now = 200;
    since.see([created(), created({ id: 'y' })], true);
    expect([since.ms('x'), since.ms('y'), since.ms('z')]).toEqual([200, 0, 0]);
  });

  test('begins anew for one that was something else, or gone, meanwhile', () => {
    let now = 0;
    const since = createCreatedSince({ monotonic: () => now });
    since.see([created(), created({ id: 'y' })], true);
    now = 100;
    since.see([created({ state: 'running' })], false);
    since.see([created()], true);
    now = 150;
    expect([since.ms('x'), since.ms('y')]).toEqual([50, 0]);
  });

  test('goes on over a list of one run', () => {
    let now = 0;
    const since = createCreatedSince({ monotonic: () => now });
    since.see([created(), created({ id: 'y' })], true);
    now = 100;
    since.see([created({ id: 'y' })], false);
    expect([since.ms('x'), since.ms('y')]).toEqual([100, 100]);
  });
});

describe('a sweep', () => {
  const partsOf = (runtime: ReturnType<typeof fakeRuntime>) => ({
    books: runtime,
    hands: runtime,
    createdSince: createCreatedSince({ monotonic: () => 0 }),
    standpoint: from(['x']),
    log: quietLog,
  });
  const sweep = (runtime: ReturnType<typeof fakeRuntime>, meter = countingMeter()) =>
    sweepLeftOvers({ ...partsOf(runtime), meter });

  test('removes it and counts it', async () => {
    const runtime = fakeRuntime();
    const meter = countingMeter();
    runtime.containers.set('x', created());
    expect(await sweep(runtime, meter)).toEqual(['x']);
    expect(meter.counted['leftOverRemoved']).toBe(1);
  });

  test('leaves one that was started after the list: Docker refuses', async () => {
    const runtime = fakeRuntime();
    runtime.containers.set('x', created());
    const list = runtime.list.bind(runtime);
    runtime.list = async () => {
      const listed = await list();
      runtime.end('x', 'running');
      return listed;
    };
    expect(await sweep(runtime)).toEqual([]);
    expect(runtime.containers.get('x')?.state).toBe('running');
  });

  test('removes nothing on a list that failed', async () => {
    const runtime = fakeRuntime();
    runtime.containers.set('x', created());
    runtime.down = 'gone';
    expect(await sweep(runtime)).toEqual([]);
    expect(runtime.containers.size).toBe(1);
  });

  test('leaves one that was started and ended after the list, and is not told of', async () => {
    const runtime = fakeRuntime();
    runtime.containers.set('x', created());
    const list = runtime.list.bind(runtime);
    runtime.list = async () => {
      const listed = await list();
      runtime.end('x');
      return listed;
    };
    expect(await sweep(runtime)).toEqual([]);
    expect(runtime.containers.get('x')?.state).toBe('exited');
  });

  test.each([
    ['renamed by somebody, and left behind all the same', [], true],
    ['a copy, which somebody made of the image of a job', ['x'], false],
  ] as const)('under another name: %s', async (_says, copies, removed) => {
    const runtime = fakeRuntime();
    runtime.containers.set('x', created({ name: 'snap' }));
    for (const id of copies) runtime.copies.add(id);
    await sweep(runtime);
    expect(runtime.containers.has('x')).toBe(!removed);
  });

  test('leaves what an attempt has begun at while another was removed', async () => {
    const runtime = fakeRuntime();
    runtime.containers.set('x', created({}, ours));
    runtime.containers.set('y', created({ id: 'y', name: 'tuneplane-other' }, { ...ours, [LABEL.runId]: 'other' }));
    let removed = 0;
    const remove = runtime.remove.bind(runtime);
    runtime.remove = (id, only) => {
      removed += 1;
      return remove(id, only);
    };
    const standpoint = from([], { isUnderWay: ({ id }) => id === 'y' && removed > 0 });
    await sweepLeftOvers({ ...partsOf(runtime), standpoint, meter: countingMeter() });
    expect([...runtime.containers.keys()]).toEqual(['y']);
  });

  test('is one at a time: the next begins a while after the last has ended', async () => {
    const runtime = fakeRuntime();
    runtime.containers.set('x', created());
    const timers: (() => void)[] = [];
    const clock = { after: (_ms: number, act: () => void) => (timers.push(act), () => void timers.splice(0)) };
    let finish: (() => void) | null = null;
    runtime.remove = () => new Promise((resolve) => (finish = () => resolve({ kind: 'removed' })));
    const stop = startSweeping({ ...partsOf(runtime), meter: countingMeter(), clock, graceMs: 300_000 });
    const removing = await vi.waitFor(() => finish ?? expect.unreachable('nothing is being removed'));
    expect(timers).toHaveLength(0);
    removing();
    await vi.waitFor(() => expect(timers).toHaveLength(1));
    stop();
    expect(timers).toHaveLength(0);
  });
});
