import { expect, test } from 'vitest';
import { createRecentRuns } from '../../src/admission/existing/recent-runs.js';
import { cardUuid } from '../../src/model/card.js';
import { LABEL } from '../../src/model/labels.js';
import type { ContainerState } from '../../src/model/snapshot.js';
import { createRuns } from '../../src/runs/runs.js';
import { systemClock } from '../../src/time/system-clock.js';
import { healthyRows, rememberedOf, uuidOf } from '../support/admissions.js';
import { fakeRuntime } from '../support/fake-runtime.js';
import { OPERATOR, quietParts } from '../support/runs-parts.js';

function machine(states: Record<string, ContainerState>) {
  const runtime = fakeRuntime();
  for (const [runId, state] of Object.entries(states)) {
    runtime.containers.set(`id-${runId}`, {
      id: `id-${runId}`,
      name: `tuneplane-${runId}`,
      state,
      outOfReach: false,
      createdAtMs: Date.UTC(2026, 10, 29, 12),
      labels: { [LABEL.runId]: runId, [LABEL.gpus]: '1', [LABEL.gpuUuids]: uuidOf(1), [LABEL.specSha256]: 'x' },
      claim: { uuids: [cardUuid(uuidOf(1))], indices: [], unread: [] },
      pinned: { kind: 'none' },
    });
  }
  const recentRuns = createRecentRuns(systemClock);
  const cardStore = { remembered: () => rememberedOf(healthyRows(2)) };
  return {
    runtime,
    recentRuns,
    runs: createRuns({ ...quietParts, books: runtime, hands: runtime, cardStore, recentRuns }),
  };
}

test('the jobs are the containers that carry a run or a claim, and nothing else', async () => {
  const { runtime, runs } = machine({ train: 'running', done: 'exited' });
  runtime.containers.set('web', {
    id: 'web',
    name: 'web',
    state: 'running',
    outOfReach: false,
    createdAtMs: 0,
    labels: {},
    claim: null,
    pinned: { kind: 'all' },
  });
  const listed = await runs.list();
  expect(listed).toMatchObject({
    kind: 'seen',
    value: [
      {
        runId: 'train',
        state: 'running',
        cards: [{ index: 1, uuid: uuidOf(1) }],
        exitCode: null,
        createdAt: '2026-11-29T12:00:00.000Z',
      },
      { runId: 'done', state: 'exited', exitCode: 0 },
    ],
  });
});

test.each([
  ['exited', 'removed'],
  ['dead', 'removed'],
  ['running', 'alive'],
  ['paused', 'alive'],
  ['created', 'alive'],
  ['removing', 'alive'],
] as const)('removing a run that is %s: %s', async (state, answer) => {
  const { runtime, runs } = machine({ train: state });
  expect(await runs.remove('train', OPERATOR)).toBe(answer);
  expect(runtime.containers.has('id-train')).toBe(answer === 'alive');
});

test('a run that nobody knows is unknown, and null to a reader', async () => {
  const { runs } = machine({});
  expect(await runs.remove('nope', OPERATOR)).toBe('unknown');
  expect(await runs.get('nope')).toMatchObject({ kind: 'seen', value: null });
});

test('a start that failed after a 202 is read for an hour, and can be removed', async () => {
  const { runs, recentRuns } = machine({});
  recentRuns.startFailed({
    runId: 'late',
    state: 'start_failed',
    principal: 'console',
    labels: {},
    image: null,
    command: null,
    cards: [],
    exitCode: null,
    oomKilled: null,
    error: 'no driver',
    createdAt: null,
    startedAt: null,
    finishedAt: null,
  });
  expect(await runs.get('late')).toMatchObject({ value: { state: 'start_failed', error: 'no driver' } });
  expect(await runs.list()).toMatchObject({ value: [{ runId: 'late' }] });
  expect(await runs.remove('late', OPERATOR)).toBe('removed');
  expect(await runs.get('late')).toMatchObject({ value: null });
});

test('a list that failed is blind, never empty, and removes nothing', async () => {
  const { runtime, runs } = machine({ train: 'exited' });
  runtime.down = 'gone';
  expect((await runs.list()).kind).toBe('blind');
  expect((await runs.get('train')).kind).toBe('blind');
  expect(await runs.remove('train', OPERATOR)).toMatchObject({ code: 'docker_unavailable' });
});
