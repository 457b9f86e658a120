import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { cardUuid } from '../../src/model/card.js';
import { LABEL } from '../../src/model/labels.js';
import type { Hold, Lock } from '../../src/model/ports/lock.js';
import type { SeenContainer } from '../../src/model/snapshot.js';
import { systemClock } from '../../src/time/system-clock.js';
import { console_, jobSpec, nobodyGone, testDesk, uuidOf, type TestDesk } from '../support/admissions.js';
import { fakeRuntime, type FakeRuntime } from '../support/fake-runtime.js';

const admit = (desk: TestDesk, ...spec: Parameters<typeof jobSpec>) =>
  desk.admit(jobSpec(...spec), console_, nobodyGone());

/** A container as another gate would have left it. */
function plant(runtime: FakeRuntime, over: Partial<SeenContainer> & { id: string }): SeenContainer {
  const spec = jobSpec('train');
  const container: SeenContainer = {
    name: 'tuneplane-train',
    state: 'created',
    outOfReach: false,
    createdAtMs: Date.now(),
    labels: {
      [LABEL.runId]: 'train',
      [LABEL.gpus]: '0',
      [LABEL.gpuUuids]: uuidOf(0),
      [LABEL.specSha256]: spec.specSha256,
      [LABEL.admittedBy]: 'gate-dead',
      [LABEL.admittedAt]: new Date().toISOString(),
    },
    claim: { uuids: [cardUuid(uuidOf(0))], indices: [], unread: [] },
    pinned: { kind: 'none' },
    ...over,
  };
  runtime.containers.set(container.id, container);
  return container;
}

const rival = (card: number, state: SeenContainer['state'] = 'created') => ({
  id: `rival-${card}`,
  name: `tuneplane-rival-${card}`,
  state,
  labels: { [LABEL.runId]: `rival-${card}`, [LABEL.gpus]: String(card) },
  claim: { uuids: [cardUuid(uuidOf(card))], indices: [], unread: [] },
});

describe('a run that nobody knows', () => {
  test('is created on free cards, alone, and started by its id', async () => {
    const runtime = fakeRuntime();
    const desk = testDesk(runtime);
    const decision = await admit(desk, 'train', 2);
    expect(decision).toMatchObject({
      kind: 'admitted',
      replayed: false,
      run: { name: 'tuneplane-train', state: 'running' },
    });
    expect(decision).toMatchObject({ cards: [{ index: 0, uuid: uuidOf(0) }, { index: 1 }] });
    expect(runtime.started).toHaveLength(1);
    expect(desk.meter.counted).toMatchObject({ granted: 2, 'phase look': 1, 'phase start': 1 });
  });

  test('waits with the reasons when the cards are held, and has a place in line', async () => {
    const runtime = fakeRuntime();
    const desk = testDesk(runtime, { cards: 2 });
    await admit(desk, 'first', 1);
    const decision = await admit(desk, 'second', 2);
    expect(decision).toMatchObject({ kind: 'wait', requested: 2, free: 1, retryAfterSeconds: 5 });
    expect(decision).toMatchObject({ reasons: [{ code: 'job_held', cards: [0] }] });
    expect(decision).toMatchObject({ place: { position: 1 } });
    expect(desk.status().line.waiting).toBe(1);
    expect(runtime.containers.size).toBe(1);
  });

  test('can never fit on a machine that has fewer cards', async () => {
    expect(await admit(testDesk(fakeRuntime()), 'train', 1e9)).toMatchObject({
      kind: 'refused',
      code: 'unsatisfiable',
    });
  });

  test('without cards needs no look and no lock', async () => {
    const runtime = fakeRuntime();
    const desk = testDesk(runtime, { lock: lockThatNeverComes() });
    expect(await admit(desk, 'train', 0)).toMatchObject({ kind: 'admitted', cards: [] });
    expect(desk.meter.counted['phase look']).toBeUndefined();
  });

  test('is not decided while Docker cannot be listed', async () => {
    const runtime = fakeRuntime();
    runtime.down = 'connect ENOENT';
    expect(await admit(testDesk(runtime), 'train')).toMatchObject({ code: 'docker_unavailable', retryAfterSeconds: 5 });
  });
});

describe('a container of this run that is there already', () => {
  test.each([
    ['running', { kind: 'admitted', replayed: true }],
    ['paused', { kind: 'admitted', replayed: true }],
    ['restarting', { kind: 'admitted', replayed: true }],
    ['exited', { kind: 'ended' }],
    ['dead', { kind: 'ended' }],
  ] as const)('%s answers for the same request', async (state, expected) => {
    const runtime = fakeRuntime();
    plant(runtime, { id: 'x', state });
    const decision = await admit(testDesk(runtime, { lock: lockThatNeverComes() }), 'train');
    expect(decision).toMatchObject({ ...expected, run: { containerId: 'x' }, cards: [{ index: 0, uuid: uuidOf(0) }] });
    expect(runtime.started).toEqual([]);
  });

  test.each(['created', 'running', 'removing', 'exited'] as const)(
    '%s with another request is run_id_reused',
    async (state) => {
      const runtime = fakeRuntime();
      plant(runtime, { id: 'x', state });
      expect(await admit(testDesk(runtime), 'train', 2)).toMatchObject({ code: 'run_id_reused' });
      expect(runtime.containers.size).toBe(1);
    },
  );

  test.each([
    ['created', { kind: 'admitted', replayed: true }],
    ['running', { kind: 'admitted', replayed: true }],
    ['exited', { kind: 'ended' }],
  ] as const)("an older agent's, %s, answers whatever is asked and is never touched", async (state, expected) => {
    const runtime = fakeRuntime();
    plant(runtime, { id: 'old', name: 'anything', state, labels: { [LABEL.runId]: 'train', [LABEL.gpus]: '0' } });
    expect(await admit(testDesk(runtime), 'train', 3)).toMatchObject(expected);
    expect(runtime.started).toEqual([]);
  });

  test('a name that belongs to something else is a failed create', async () => {
    const runtime = fakeRuntime();
    plant(runtime, { id: 'x', labels: { [LABEL.runId]: 'other' }, claim: null });
    expect(await admit(testDesk(runtime), 'train')).toMatchObject({ code: 'create_failed' });
  });

  test.each(['running', 'exited'] as const)(
    'that somebody renamed while it was %s is still this run',
    async (state) => {
      const runtime = fakeRuntime();
      plant(runtime, { id: 'x', name: 'my-training', state });
      const expected = state === 'running' ? { kind: 'admitted', replayed: true } : { kind: 'ended' };
      expect(await admit(testDesk(runtime), 'train')).toMatchObject({ ...expected, run: { name: 'my-training' } });
      expect(runtime.started).toEqual([]);
    },
  );

  test('a copy, made from the image of a job, does not stand for it, and holds what its labels say', async () => {
    const runtime = fakeRuntime();
    plant(runtime, { id: 'copy', name: 'somebody', state: 'running' });
    runtime.copies.add('copy');
    expect(await admit(testDesk(runtime), 'train')).toMatchObject({
      kind: 'admitted',
      replayed: false,
      cards: [{ index: 1 }],
    });
  });

  test('of two containers of one run the one that runs answers', async () => {
    const runtime = fakeRuntime();
    plant(runtime, { id: 'made-later' });
    plant(runtime, { id: 'x', name: 'renamed', state: 'running' });
    const decision = await admit(testDesk(runtime), 'train');
    expect(decision).toMatchObject({ kind: 'admitted', replayed: true, run: { containerId: 'x' } });
  });

  test('on its way out is waited for, then the run is decided', async () => {
    const runtime = fakeRuntime();
    plant(runtime, { id: 'x', state: 'removing' });
    setTimeout(() => runtime.containers.delete('x'), 300);
    expect(await admit(testDesk(runtime), 'train')).toMatchObject({ kind: 'admitted', replayed: false });
  });

  test('that will not go away is answered in time', async () => {
    const runtime = fakeRuntime();
    plant(runtime, { id: 'x', state: 'removing' });
    const decision = await admit(testDesk(runtime, { settings: { admitTimeoutMs: 300 } }), 'train');
    expect(decision).toMatchObject({ kind: 'wait', reasons: [{ code: 'job_held', cards: [0] }] });
  });
});

describe('a created container, which only its creator may start', () => {
  const ofThisGate = { [LABEL.admittedBy]: 'gate-a', [LABEL.life]: 'an earlier life' };
  /** As another gate left it, but for these labels. */
  const plantWith = (runtime: FakeRuntime, labels: Record<string, string>): void => {
    const planted = plant(runtime, { id: 'x' });
    runtime.containers.set('x', { ...planted, labels: { ...planted.labels, ...labels } });
  };

  test('of another gate that may live is waited for, and then said to be starting, by whom', async () => {
    const runtime = fakeRuntime();
    plant(runtime, { id: 'x' });
    const decision = await admit(testDesk(runtime, { settings: { admitTimeoutMs: 300 } }), 'train');
    expect(decision).toMatchObject({
      kind: 'starting',
      run: { containerId: 'x' },
      explain: expect.stringContaining('gate-dead'),
    });
    expect([runtime.started, [...runtime.containers.keys()]]).toEqual([[], ['x']]);
  });

  test.each([
    ['starts it', (runtime: FakeRuntime) => runtime.end('x', 'running'), { kind: 'admitted', replayed: true }],
    ['yields', (runtime: FakeRuntime) => void runtime.containers.delete('x'), { kind: 'admitted', replayed: false }],
    ['starts it and it ends at once', (runtime: FakeRuntime) => runtime.end('x'), { kind: 'ended' }],
  ])('of another gate that %s meanwhile is answered as it turns out', async (_says, act, expected) => {
    const runtime = fakeRuntime();
    plant(runtime, { id: 'x' });
    setTimeout(() => act(runtime), 250);
    expect(await admit(testDesk(runtime), 'train')).toMatchObject(expected);
    expect(runtime.started).not.toContain('x');
  });

  test.each([
    ['by an earlier life of this gate', ofThisGate, {}],
    ['by a version of this gate that wrote no life', { ...ofThisGate, [LABEL.life]: '' }, {}],
    ['by this life, which is not at it any more', { ...ofThisGate, [LABEL.life]: 'life-1' }, {}],
    ['by any other, where none but this gate can be at work', {}, { alone: true }],
    ['by another gate, longer ago than the grace', {}, { claimGraceMs: 0 }],
  ] as const)('left behind %s is removed and the run decided anew', async (_says, labels, settings) => {
    const runtime = fakeRuntime();
    plantWith(runtime, labels);
    const desk = testDesk(runtime, { settings });
    expect(await admit(desk, 'train')).toMatchObject({ kind: 'admitted', replayed: false, cards: [{ index: 0 }] });
    expect(runtime.containers.has('x')).toBe(false);
    expect(runtime.started).toHaveLength(1);
    expect(runtime.started).not.toContain('x');
    expect(desk.meter.counted['leftOverRemoved']).toBe(1);
  });

  test('left behind, and started and ended right before it is removed, is a run that has run', async () => {
    const runtime = fakeRuntime();
    plantWith(runtime, ofThisGate);
    // Seen as created; a start of the dead gate that was on its way slips in, and the job ends at once.
    runtime.beforeRemoval = (id) => runtime.end(id);
    const desk = testDesk(runtime);
    expect(await admit(desk, 'train')).toMatchObject({ kind: 'ended', run: { containerId: 'x', exitCode: 0 } });
    expect(await admit(desk, 'train')).toMatchObject({ kind: 'ended' });
    expect(await admit(desk, 'train', 2)).toMatchObject({ code: 'run_id_reused' });
    expect(runtime.started).toEqual([]);
    expect(desk.meter.counted['removedRun']).toBe(1);
    expect(desk.recentRuns.get('train')).toMatchObject({ state: 'exited', exitCode: 0 });
  });

  test('that cannot be removed for sure is not decided anew', async () => {
    const runtime = fakeRuntime();
    plantWith(runtime, ofThisGate);
    runtime.remove = async () => ({ kind: 'in_doubt', detail: 'socket hang up' });
    expect(await admit(testDesk(runtime), 'train')).toMatchObject({ code: 'docker_unavailable', rolledBack: false });
    expect(runtime.containers.size).toBe(1);
  });
});

describe('rivals', () => {
  test('a claim that shows after the create makes ours yield and start over elsewhere', async () => {
    const runtime = fakeRuntime();
    let first = true;
    const desk = testDesk(runtime);
    runtime.onCreate = () => {
      if (first) plant(runtime, rival(0));
      first = false;
      return null;
    };
    expect(await admit(desk, 'train')).toMatchObject({ kind: 'admitted', cards: [{ index: 1 }] });
    expect(desk.meter.counted['claimRace']).toBe(1);
    expect(runtime.started).toHaveLength(1);
  });

  test('losing every time ends in lost_race, with nothing left behind', async () => {
    const runtime = fakeRuntime();
    const desk = testDesk(runtime, { cards: 1, settings: { admitTimeoutMs: 10_000 }, random: () => 0 });
    const create = runtime.create.bind(runtime);
    runtime.create = async (spec, grant) => {
      const made = await create(spec, grant);
      plant(runtime, rival(0));
      return made;
    };
    const remove = runtime.remove.bind(runtime);
    runtime.remove = async (id, only) => {
      runtime.containers.delete('rival-0');
      return remove(id, only);
    };
    const decision = await admit(desk, 'train');
    expect(decision).toMatchObject({ kind: 'wait', retryAfterSeconds: 1, reasons: [{ code: 'lost_race' }] });
    expect(runtime.containers.size).toBe(0);
    expect(runtime.started).toEqual([]);
  });

  test('a list that fails after the create starts nothing and takes the container back', async () => {
    const runtime = fakeRuntime();
    const create = runtime.create.bind(runtime);
    runtime.create = async (spec, grant) => {
      const made = await create(spec, grant);
      runtime.down = 'gone away';
      return made;
    };
    expect(await admit(testDesk(runtime), 'train')).toMatchObject({ code: 'docker_unavailable', rolledBack: true });
    expect(runtime.containers.size).toBe(0);
    expect(runtime.started).toEqual([]);
  });
});

describe('the list after the create', () => {
  /** Does something to a container right after it was created. */
  const after = (runtime: FakeRuntime, act: (id: string, times: number) => void): void => {
    const create = runtime.create.bind(runtime);
    let times = 0;
    runtime.create = async (spec, grant) => {
      const made = await create(spec, grant);
      if (made.kind === 'created') act(made.id, ++times);
      return made;
    };
  };

  test('shows that ours has run and ended already: it is answered, and never started again', async () => {
    const runtime = fakeRuntime();
    after(runtime, (id) => runtime.end(id));
    expect(await admit(testDesk(runtime), 'train')).toMatchObject({ kind: 'ended' });
    expect(runtime.started).toEqual([]);
  });

  test('shows that a job without cards has run and ended already: it is never started again', async () => {
    const runtime = fakeRuntime();
    after(runtime, (id) => runtime.end(id));
    expect(await admit(testDesk(runtime), 'train', 0)).toMatchObject({ kind: 'ended' });
    expect(runtime.started).toEqual([]);
  });

  test('shows a second container of the run, renamed before: ours yields, and that one answers', async () => {
    const runtime = fakeRuntime();
    after(runtime, () => plant(runtime, { id: 'x', name: 'renamed', state: 'running', claim: null }));
    const decision = await admit(testDesk(runtime), 'train');
    expect(decision).toMatchObject({ kind: 'admitted', replayed: true, run: { containerId: 'x' } });
    expect([runtime.started, runtime.containers.size]).toEqual([[], 1]);
  });

  test('shows a claim that came at the same moment: both yield, also the older one', async () => {
    const runtime = fakeRuntime();
    after(runtime, (_id, times) => {
      if (times === 1) plant(runtime, { ...rival(0), createdAtMs: Date.now() + 60_000 });
    });
    expect(await admit(testDesk(runtime), 'train')).toMatchObject({ kind: 'admitted', cards: [{ index: 1 }] });
    expect(runtime.started).toHaveLength(1);
  });

  test('shows ours on other cards than were asked for: it is taken back', async () => {
    const runtime = fakeRuntime();
    after(runtime, (id) => {
      const made = runtime.containers.get(id)!;
      runtime.containers.set(id, { ...made, claim: { uuids: [cardUuid(uuidOf(3))], indices: [], unread: [] } });
    });
    expect(await admit(testDesk(runtime), 'train')).toMatchObject({ code: 'create_failed' });
    expect([runtime.started, runtime.containers.size]).toEqual([[], 0]);
  });

  test('fails for a job without cards too: it is taken back', async () => {
    const runtime = fakeRuntime();
    after(runtime, () => (runtime.down = 'gone away'));
    expect(await admit(testDesk(runtime), 'train', 0)).toMatchObject({ code: 'docker_unavailable', rolledBack: true });
    expect([runtime.started, runtime.containers.size]).toEqual([[], 0]);
  });

  test('makes ours yield while a hand that is not ours starts it: it is replayed, and left alone', async () => {
    const runtime = fakeRuntime();
    after(runtime, () => plant(runtime, rival(0)));
    runtime.beforeRemoval = (id) => runtime.end(id, 'running');
    expect(await admit(testDesk(runtime), 'train')).toMatchObject({ kind: 'admitted', replayed: true });
    expect(runtime.started).toEqual([]);
  });
});

describe('a create that hangs', () => {
  const hanging = (runtime: FakeRuntime, runId: string): { answer(): void } => {
    const create = runtime.create.bind(runtime);
    let answer = (): void => {};
    runtime.create = async (spec, grant) => {
      if (spec.runId === runId) await new Promise<void>((resolve) => (answer = resolve));
      return create(spec, grant);
    };
    return { answer: () => answer() };
  };
  /** Time passes fifty times as fast. */
  const quickClock = () => ({
    now: () => Date.now(),
    monotonic: () => 50 * performance.now(),
    after(ms: number, act: () => void) {
      const timer = setTimeout(act, ms / 50);
      return () => clearTimeout(timer);
    },
  });
  const settings = { admitTimeoutMs: 30_000, startTimeoutMs: 30_000 };

  test('holds up nobody: the others of its batch are started, and the lock is free', async () => {
    const runtime = fakeRuntime();
    hanging(runtime, 'slow');
    const desk = testDesk(runtime, { clock: quickClock(), settings });
    const [slow, quick] = await Promise.all([admit(desk, 'slow'), admit(desk, 'quick')]);
    expect(slow).toMatchObject({ code: 'docker_unavailable', rolledBack: false });
    expect(quick).toMatchObject({ kind: 'admitted' });
    expect(await admit(desk, 'next')).toMatchObject({ kind: 'admitted' });
  });

  test('and shows after all is checked and started without the lock, and who asks again is told', async () => {
    const runtime = fakeRuntime();
    const slow = hanging(runtime, 'slow');
    const desk = testDesk(runtime, { clock: quickClock(), settings });
    await admit(desk, 'slow');
    const again = admit(desk, 'slow');
    slow.answer();
    expect(await again).toMatchObject({ kind: 'admitted', replayed: true });
    expect(runtime.started).toHaveLength(1);
  });

  test('and shows where another run has its card by then is taken back', async () => {
    const runtime = fakeRuntime();
    const slow = hanging(runtime, 'slow');
    const desk = testDesk(runtime, { cards: 1, clock: quickClock(), settings });
    await admit(desk, 'slow');
    // Its place keeps the card for it until it lapses.
    expect(await admit(desk, 'other')).toMatchObject({ kind: 'wait', reasons: [{ code: 'ahead_in_line' }] });
    desk.places.takeAway('slow', 'stopped');
    expect(await admit(desk, 'other')).toMatchObject({ kind: 'admitted' });
    slow.answer();
    await expect.poll(() => [...runtime.containers.values()].map(({ name }) => name)).toEqual(['tuneplane-other']);
    expect(runtime.started).toHaveLength(1);
  });

  test('and never answers is said so, and no second one is sent', async () => {
    const runtime = fakeRuntime();
    hanging(runtime, 'slow');
    const desk = testDesk(runtime, { clock: quickClock(), settings: { ...settings, admitTimeoutMs: 10_000 } });
    await admit(desk, 'slow');
    expect(await admit(desk, 'slow')).toMatchObject({ code: 'docker_unavailable', rolledBack: false });
    expect(runtime.containers.size).toBe(0);
  });
});

// Found by the simulation: the two lists of step 7 are of two moments.
test('a container that one of two lists shows running is not started, whatever the other one shows', async () => {
  const runtime = fakeRuntime();
  const list = runtime.list.bind(runtime);
  runtime.list = async () => {
    const [own] = runtime.containers.values();
    if (own?.state === 'created') {
      await new Promise((resolve) => setImmediate(resolve));
      runtime.containers.set(own.id, { ...own, state: 'running' });
    }
    return list();
  };
  expect(await admit(testDesk(runtime), 'train')).toMatchObject({ kind: 'admitted', replayed: true });
  expect(runtime.started).toEqual([]);
});

describe('doubt', () => {
  test('a create that did not answer and happened is gone on with', async () => {
    const runtime = fakeRuntime();
    const create = runtime.create.bind(runtime);
    runtime.create = async (spec, grant) => {
      await create(spec, grant);
      return { kind: 'in_doubt', detail: 'socket hang up' };
    };
    expect(await admit(testDesk(runtime), 'train')).toMatchObject({ kind: 'admitted' });
    expect(runtime.containers.size).toBe(1);
  });

  test('a create that did not answer and never shows is create_failed, not rolled back for sure', async () => {
    const runtime = fakeRuntime();
    runtime.onCreate = () => ({ kind: 'in_doubt', detail: 'socket hang up' });
    expect(await admit(testDesk(runtime), 'train')).toMatchObject({ code: 'create_failed', rolledBack: false });
  });

  test('a create that did not answer is not taken for what an earlier life of this gate created meanwhile', async () => {
    const runtime = fakeRuntime();
    runtime.onCreate = () => {
      const planted = plant(runtime, { id: 'x' });
      const labels = { ...planted.labels, [LABEL.admittedBy]: 'gate-a', [LABEL.life]: 'an earlier life' };
      runtime.containers.set('x', { ...planted, labels });
      return { kind: 'in_doubt', detail: 'socket hang up' };
    };
    const clock = { ...systemClock, monotonic: () => 20 * performance.now() };
    await admit(testDesk(runtime, { clock, settings: { admitTimeoutMs: 60_000 } }), 'train');
    expect(runtime.started).toEqual([]);
  });

  test('a name taken by a container that shows a moment later is answered by the table', async () => {
    const runtime = fakeRuntime();
    runtime.onCreate = () => {
      setTimeout(() => plant(runtime, { id: 'x', state: 'running' }), 150);
      return { kind: 'name_taken', daemonMessage: 'Conflict' };
    };
    expect(await admit(testDesk(runtime), 'train')).toMatchObject({ kind: 'admitted', replayed: true });
  });

  test('a name that something holds which no list shows is refused, and nobody says that nothing is left', async () => {
    const runtime = fakeRuntime();
    runtime.onCreate = () => ({ kind: 'name_taken', daemonMessage: 'Conflict' });
    // Twenty times as fast: each try asks for two seconds whether it shows.
    const clock = { ...systemClock, monotonic: () => 20 * performance.now() };
    const settings = { admitTimeoutMs: 60_000 };
    expect(await admit(testDesk(runtime, { clock, settings }), 'train')).toMatchObject({
      code: 'create_failed',
      detail: 'the name tuneplane-train is taken, and no list shows by what',
      rolledBack: false,
    });
  });

  test.each([
    ['goes when it is removed', false, { code: 'create_failed', rolledBack: true }, 0],
    ['cannot be removed', true, { code: 'docker_unavailable', rolledBack: false }, 1],
  ])('a container that no list shows is not started, and %s', async (_says, stays, expected, left) => {
    const runtime = fakeRuntime();
    runtime.list = async () => ({ kind: 'seen', value: { containers: [] }, tookMs: 1 });
    if (stays) runtime.remove = async () => ({ kind: 'in_doubt', detail: 'socket hang up' });
    expect(await admit(testDesk(runtime), 'train')).toMatchObject(expected);
    expect(runtime.started).toEqual([]);
    expect(runtime.containers.size).toBe(left);
  });

  test('an image that is removed before each create is an image that is not there', async () => {
    const runtime = fakeRuntime();
    runtime.onCreate = () => ({ kind: 'image_gone', daemonMessage: 'No such image' });
    expect(await admit(testDesk(runtime), 'train')).toMatchObject({ code: 'image_not_found' });
  });

  test('a start that did not answer and happened is admitted', async () => {
    const runtime = fakeRuntime();
    runtime.onStart = (id) => {
      runtime.end(id, 'running');
      return { kind: 'in_doubt', detail: 'timeout' };
    };
    expect(await admit(testDesk(runtime), 'train')).toMatchObject({ kind: 'admitted', run: { state: 'running' } });
  });

  test('a start that did not answer, happened and ended after the time of its request is answered as the run that it is', async () => {
    const runtime = fakeRuntime();
    let aheadMs = 0;
    runtime.onStart = () => {
      aheadMs = 600_000;
      return { kind: 'in_doubt', detail: 'socket hang up' };
    };
    runtime.remove = async (id) => {
      runtime.end(id);
      return { kind: 'left', state: 'exited' };
    };
    const clock = { ...systemClock, monotonic: () => performance.now() + aheadMs };
    expect(await admit(testDesk(runtime, { clock }), 'train')).toMatchObject({ kind: 'ended' });
  });

  test('a start that did not answer while Docker went away leaves the claim standing', async () => {
    const runtime = fakeRuntime();
    runtime.onStart = () => {
      runtime.down = 'gone away';
      return { kind: 'in_doubt', detail: 'socket hang up' };
    };
    expect(await admit(testDesk(runtime), 'train')).toMatchObject({ code: 'docker_unavailable', rolledBack: false });
    expect(runtime.containers.size).toBe(1);
  });
});

describe('a start', () => {
  test('that fails is rolled back and counted against its cards', async () => {
    const runtime = fakeRuntime();
    runtime.onStart = () => ({ kind: 'failed', daemonMessage: 'could not select device driver' });
    const desk = testDesk(runtime);
    expect(await admit(desk, 'train', 2)).toMatchObject({
      code: 'start_failed',
      daemonMessage: 'could not select device driver',
      rolledBack: true,
    });
    expect(desk.meter.counted['startFailed']).toBe(2);
    expect(runtime.containers.size).toBe(0);
  });

  test("that Docker refuses for the container's own fault is not counted against its cards", async () => {
    const runtime = fakeRuntime();
    runtime.onStart = () => ({ kind: 'refused', daemonMessage: 'no such command' });
    const desk = testDesk(runtime);
    expect(await admit(desk, 'train')).toMatchObject({ code: 'container_refused', rolledBack: true });
    expect(desk.meter.counted['startFailed']).toBeUndefined();
  });

  test('of a container that somebody removed starts over', async () => {
    const runtime = fakeRuntime();
    let first = true;
    runtime.onStart = async () => {
      if (first) runtime.prune();
      first = false;
      return null;
    };
    expect(await admit(testDesk(runtime), 'train')).toMatchObject({ kind: 'admitted' });
    expect(runtime.started).toHaveLength(1);
  });

  test('slower than the limit is answered starting; the same request then waits for it', async () => {
    const runtime = fakeRuntime();
    let finish = (): void => {};
    runtime.onStart = () =>
      new Promise((resolve) => {
        finish = () => resolve(null);
      });
    const desk = testDesk(runtime, { settings: { startTimeoutMs: 300 } });
    expect(await admit(desk, 'train')).toMatchObject({ kind: 'starting', run: { state: 'created' } });
    expect(await admit(desk, 'train')).toMatchObject({ kind: 'starting' });
    const third = admit(desk, 'train');
    finish();
    expect(await third).toMatchObject({ kind: 'admitted', replayed: true });
    expect(desk.meter.counted['granted']).toBe(1);
  });

  test('that fails after its caller was told starting stays readable', async () => {
    const runtime = fakeRuntime();
    runtime.onStart = () =>
      new Promise((resolve) => setTimeout(() => resolve({ kind: 'failed', daemonMessage: 'late' }), 200));
    const desk = testDesk(runtime, { settings: { startTimeoutMs: 50 } });
    await admit(desk, 'train');
    expect(await desk.drain(5000)).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(desk.recentRuns.get('train')).toMatchObject({ state: 'start_failed', error: 'late' });
    expect(runtime.containers.size).toBe(0);
  });
});

describe('the lock', () => {
  test('not to be had in time is 503, and nothing is created', async () => {
    const runtime = fakeRuntime();
    const desk = testDesk(runtime, { lock: lockThatNeverComes(), settings: { admitTimeoutMs: 100 } });
    expect(await admit(desk, 'train')).toMatchObject({
      code: 'lock_unavailable',
      detail: expect.stringContaining('Redis is gone'),
    });
    expect(runtime.containers.size).toBe(0);
    expect(desk.status().lockWaiters).toBe(0);
  });

  test('lost before the create starts over; nothing was created meanwhile', async () => {
    const runtime = fakeRuntime();
    let confirms = 0;
    const desk = testDesk(runtime, { lock: lockWith(async () => ++confirms > 1) });
    expect(await admit(desk, 'train')).toMatchObject({ kind: 'admitted' });
    expect(confirms).toBe(2);
    expect(runtime.containers.size).toBe(1);
  });

  test('is kept until the start has ended where another allocator needs that', async () => {
    const runtime = fakeRuntime();
    const order: string[] = [];
    runtime.onStart = async () => {
      order.push('start');
      return null;
    };
    const lock = lockWith(
      async () => true,
      () => order.push('released'),
    );
    await admit(testDesk(runtime, { lock, settings: { lockThrough: 'start' } }), 'train');
    await new Promise((resolve) => setImmediate(resolve));
    expect(order).toEqual(['start', 'released']);
  });

  test('kept through a slow start does not keep the caller', async () => {
    const runtime = fakeRuntime();
    runtime.onStart = () => new Promise((resolve) => setTimeout(() => resolve({ kind: 'started' }), 400));
    const desk = testDesk(runtime, { settings: { lockThrough: 'start', startTimeoutMs: 50 } });
    expect(await admit(desk, 'train')).toMatchObject({ kind: 'starting' });
    expect([...runtime.containers.values()]).toMatchObject([{ state: 'created' }]);
  });
});

describe('callers', () => {
  test('20 at once on 8 cards: 8 run on 8 different cards, 12 wait, by few looks', async () => {
    const runtime = fakeRuntime();
    const desk = testDesk(runtime, { cards: 8 });
    const decisions = await Promise.all(Array.from({ length: 20 }, (_, at) => admit(desk, `job-${at}`)));
    expect(decisions.filter(({ kind }) => kind === 'admitted')).toHaveLength(8);
    expect(decisions.filter(({ kind }) => kind === 'wait')).toHaveLength(12);
    const cards = [...runtime.containers.values()].flatMap(({ claim }) => claim!.uuids);
    expect(new Set(cards).size).toBe(8);
    expect(desk.meter.counted['phase look']).toBeLessThan(6);
  });

  test('the same run twice at once is started once and replayed once', async () => {
    const runtime = fakeRuntime();
    const desk = testDesk(runtime);
    const both = await Promise.all([admit(desk, 'train'), admit(desk, 'train')]);
    expect(both.map((decision) => decision.kind === 'admitted' && decision.replayed)).toEqual([false, true]);
    expect(runtime.started).toHaveLength(1);
  });

  test('who stood behind others of the same run for all of its time is told to ask again', async () => {
    const runtime = fakeRuntime();
    // Each request before it takes the whole of its start, and leaves nothing that the next could be answered with.
    runtime.onStart = async () => {
      await pause(300);
      return { kind: 'failed', daemonMessage: 'no' };
    };
    const settings = { admitTimeoutMs: 200, pullWaitMs: 0, startTimeoutMs: 350 };
    const desk = testDesk(runtime, { settings });
    const decisions = await Promise.all([1, 2, 3].map(() => admit(desk, 'train')));
    expect(decisions.map((decision) => 'code' in decision && decision.code)).toEqual([
      'start_failed',
      'start_failed',
      'busy',
    ]);
    expect(decisions[2]).toMatchObject({ detail: expect.stringContaining('the run train') });
    expect(runtime.containers.size).toBe(0);
  });

  test('who stand behind an earlier request for their own run count as waiting', async () => {
    const runtime = fakeRuntime();
    runtime.onStart = () => new Promise(() => {});
    const desk = testDesk(runtime, { settings: { maxWaiting: 2, startTimeoutMs: 5000 } });
    const asks = [admit(desk, 'train'), admit(desk, 'train'), admit(desk, 'train')];
    expect(await admit(desk, 'train')).toMatchObject({ code: 'busy' });
    expect(await admit(desk, 'other')).toMatchObject({ code: 'busy' });
    expect(asks).toHaveLength(3);
  });

  test('one whose create fails by a fault of ours is told so, and the others of its batch go on', async () => {
    const runtime = fakeRuntime();
    runtime.onCreate = (spec) => {
      if (spec.runId === 'bad') throw new Error('a bug of ours');
      return null;
    };
    const desk = testDesk(runtime);
    const [bad, good] = await Promise.allSettled([admit(desk, 'bad'), admit(desk, 'good')]);
    expect(bad).toMatchObject({ status: 'rejected', reason: new Error('a bug of ours') });
    expect(good).toMatchObject({ status: 'fulfilled', value: { kind: 'admitted' } });
    runtime.onCreate = null;
    // Nothing of the attempt stands in the way of the next.
    expect(await admit(desk, 'bad')).toMatchObject({ kind: 'admitted' });
  });

  test('who started over until their time was up are told why, however many tries are left', async () => {
    const runtime = fakeRuntime();
    runtime.onCreate = () => ({ kind: 'image_gone', daemonMessage: 'No such image' });
    let tries = 0;
    runtime.images = () => {
      tries += 1;
      return { kind: 'present' };
    };
    const desk = testDesk(runtime, { settings: { admitTimeoutMs: 0 } });
    expect(await admit(desk, 'train', 0)).toMatchObject({ code: 'image_not_found' });
    expect(tries).toBe(1);
  });

  test('who hung up before the create leaves no trace', async () => {
    const runtime = fakeRuntime();
    const gone = new AbortController();
    const desk = testDesk(runtime, { lock: lockThatNeverComes() });
    const decision = desk.admit(jobSpec('train'), console_, gone.signal);
    setTimeout(() => gone.abort(), 50);
    expect(await decision).toEqual({ kind: 'client_gone' });
    expect(runtime.containers.size).toBe(0);
  });

  test('who hung up after the create gets the run all the same', async () => {
    const runtime = fakeRuntime();
    const gone = new AbortController();
    runtime.onStart = async () => {
      gone.abort();
      return null;
    };
    expect(await testDesk(runtime).admit(jobSpec('train'), console_, gone.signal)).toMatchObject({ kind: 'admitted' });
  });

  test('nobody new is let in while the gate drains, and those under way end', async () => {
    const runtime = fakeRuntime();
    runtime.onStart = () => new Promise((resolve) => setTimeout(() => resolve(null), 150));
    const desk = testDesk(runtime);
    const first = admit(desk, 'first');
    await new Promise((resolve) => setTimeout(resolve, 50));
    const drained = desk.drain(2000);
    expect(await admit(desk, 'second')).toMatchObject({ code: 'draining' });
    expect(await drained).toBe(true);
    expect(await first).toMatchObject({ kind: 'admitted' });
  });
});

describe('images and blindness', () => {
  test.each([
    [{ kind: 'pulling' }, { kind: 'wait', reasons: [{ code: 'image_pulling' }] }],
    [
      { kind: 'not_found', daemonMessage: 'no' },
      { code: 'image_not_found', daemonMessage: 'no' },
    ],
    [
      { kind: 'failed', daemonMessage: 'bad' },
      { code: 'image_pull_failed', daemonMessage: 'bad' },
    ],
    [{ kind: 'unavailable', detail: 'down' }, { code: 'docker_unavailable' }],
  ] as const)('an image that is %j is answered before anybody waits for the lock', async (answer, expected) => {
    const runtime = fakeRuntime();
    runtime.images = () => answer;
    expect(await admit(testDesk(runtime, { lock: lockThatNeverComes() }), 'train')).toMatchObject(expected);
  });

  test('a blind probe hands nothing out', async () => {
    const desk = testDesk(fakeRuntime());
    desk.machine.rows = null;
    expect(await admit(desk, 'train')).toMatchObject({ kind: 'wait', reasons: [{ code: 'probe_blind' }] });
  });

  test('a dry run says what would be, and touches nothing', async () => {
    const runtime = fakeRuntime();
    const desk = testDesk(runtime, { lock: lockThatNeverComes(), cards: 1 });
    expect(await desk.dryRun(jobSpec('train'))).toMatchObject({ kind: 'would_admit', cards: [{ index: 0 }] });
    expect(await desk.dryRun(jobSpec('train', 2))).toMatchObject({ code: 'unsatisfiable' });
    expect(runtime.containers.size).toBe(0);
    plant(runtime, { id: 'x', state: 'running' });
    expect(await desk.dryRun(jobSpec('train'))).toMatchObject({ kind: 'would_replay', run: { containerId: 'x' } });
    expect(await desk.dryRun(jobSpec('other'))).toMatchObject({ kind: 'would_wait', free: 0 });
  });
});

function lockThatNeverComes(): Lock {
  return {
    acquire: (signal) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true })),
    problem: () => 'Redis is gone',
    held: false,
    up: false,
  };
}

function lockWith(confirm: () => Promise<boolean>, onRelease: () => void = () => {}): Lock {
  const hold: Hold = { confirm, release: async () => onRelease(), lost: new AbortController().signal };
  return { acquire: async () => hold, problem: () => null, held: false, up: true };
}
