import { describe, expect, test } from 'vitest';
import { LABEL } from '../../src/model/labels.js';
import type { SeenContainer } from '../../src/model/snapshot.js';
import { isLeftOver, sweepLeftOvers } from '../../src/runtime/left-overs.js';
import { countingMeter, quietLog } from '../support/admissions.js';
import { fakeRuntime } from '../support/fake-runtime.js';

const STARTED = Date.UTC(2026, 10, 29, 12);
const GRACE = 300_000;
const life = { instanceId: 'me', startedAtMs: STARTED, graceMs: GRACE, adopted: () => false };

function created(over: Partial<SeenContainer> = {}, labels: Record<string, string> = {}): SeenContainer {
  return {
    id: 'x',
    name: 'tuneplane-train',
    state: 'created',
    createdAtMs: STARTED - 1000,
    labels: {
      [LABEL.runId]: 'train',
      [LABEL.specSha256]: 'sha',
      [LABEL.admittedBy]: 'other',
      [LABEL.admittedAt]: new Date(STARTED - 1000).toISOString(),
      ...labels,
    },
    claim: { uuids: [], indices: [], unread: [] },
    pinned: { kind: 'none' },
    ...over,
  };
}

describe('a left-over is', () => {
  test.each([
    ['a container of another gate once the grace is over', created(), STARTED + GRACE, true],
    ['not one of another gate before that', created(), STARTED + 10, false],
    ['one of an earlier life of this instance at once', created({}, { [LABEL.admittedBy]: 'me' }), STARTED + 10, true],
    [
      'not one that this life made',
      created({}, { [LABEL.admittedBy]: 'me', [LABEL.admittedAt]: new Date(STARTED + 5).toISOString() }),
      STARTED + 10,
      false,
    ],
    ['not one that runs', created({ state: 'running' }), STARTED + GRACE, false],
    ['not one that has ended', created({ state: 'exited' }), STARTED + GRACE, false],
    ['not a copy of the labels under another name', created({ name: 'snap' }), STARTED + GRACE, false],
    ["not an older agent's, which has no hash", created({}, { [LABEL.specSha256]: '' }), STARTED + GRACE, false],
  ] as const)('%s', (_says, container, nowMs, expected) => {
    expect(isLeftOver(container, life, nowMs)).toBe(expected);
  });

  test('never one that is being dealt with here', () => {
    expect(isLeftOver(created(), { ...life, adopted: () => true }, STARTED + GRACE)).toBe(false);
  });
});

describe('a sweep', () => {
  const sweep = (runtime: ReturnType<typeof fakeRuntime>, meter = countingMeter()) =>
    sweepLeftOvers({ ...life, books: runtime, hands: runtime, meter, log: quietLog }, STARTED + GRACE);

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
});
