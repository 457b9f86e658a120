import { describe, expect, test } from 'vitest';
import { LABEL } from '../../src/model/labels.js';
import type { SeenContainer } from '../../src/model/snapshot.js';
import { createRuns } from '../../src/runs/runs.js';
import { fakeRuntime } from '../support/fake-runtime.js';
import { OPERATOR, quietParts } from '../support/runs-parts.js';

/** The runs of a machine with one run, `train`, and a start of `late` that failed and left nothing. */
function machine(train: Partial<SeenContainer>) {
  const runtime = fakeRuntime();
  runtime.containers.set('id-train', {
    id: 'id-train',
    name: 'tuneplane-train',
    state: 'running',
    outOfReach: true,
    createdAtMs: 0,
    labels: { [LABEL.runId]: 'train', [LABEL.specSha256]: 'x' },
    claim: { uuids: [], indices: [], unread: [] },
    pinned: { kind: 'none' },
    ...train,
  });
  const late = {
    runId: 'late',
    state: 'start_failed',
    principal: null,
    labels: {},
    image: null,
    command: null,
  } as const;
  const details = { exitCode: null, oomKilled: null, error: null, createdAt: null, startedAt: null, finishedAt: null };
  const recentRuns = {
    get: (runId: string) => (runId === 'late' ? { ...late, ...details, cards: [] } : null),
    all: () => [],
    forget: () => false,
  };
  const cardStore = { remembered: () => [] };
  return { runtime, runs: createRuns({ ...quietParts, books: runtime, hands: runtime, cardStore, recentRuns }) };
}

describe('a run that is out of reach', () => {
  test('is not removed, and says that it is out of reach', async () => {
    const { runtime, runs } = machine({});
    expect(await runs.remove('train', OPERATOR)).toBe('out_of_reach');
    expect(runtime.containers.size).toBe(1);
  });

  test('is given up, once', async () => {
    const { runtime, runs } = machine({});
    expect(await runs.giveUp('train')).toBe('given_up');
    expect(runtime.containers.size).toBe(0);
    expect(await runs.giveUp('train')).toBe('unknown');
  });

  test('is not given up where the books cannot be read, or the runtime does not say', async () => {
    const { runtime, runs } = machine({});
    runtime.giveUp = async () => ({ kind: 'in_doubt', detail: 'no answer' });
    expect(await runs.giveUp('train')).toMatchObject({
      code: 'docker_unavailable',
      detail: expect.stringContaining('no answer'),
    });
    runtime.down = 'the folder is gone';
    expect(await runs.giveUp('train')).toMatchObject({
      code: 'docker_unavailable',
      detail: expect.stringContaining('the folder is gone'),
    });
  });

  test('is unknown when somebody else gave it up at the same time', async () => {
    const { runtime, runs } = machine({});
    runtime.giveUp = async () => ({ kind: 'gone' });
    expect(await runs.giveUp('train')).toBe('unknown');
  });
});

test.each(['created', 'running', 'paused', 'exited', 'dead'] as const)(
  'a run that can be asked for and is %s is not given up',
  async (state) => {
    const { runtime, runs } = machine({ state, outOfReach: false });
    expect(await runs.giveUp('train')).toMatchObject({ kind: 'in_reach', why: expect.stringContaining(state) });
    expect(runtime.containers.size).toBe(1);
  },
);

test('a start that failed is none to give up, and what is not known is not known', async () => {
  const { runs } = machine({});
  expect(await runs.giveUp('late')).toMatchObject({ kind: 'in_reach', why: expect.stringContaining('failed') });
  expect(await runs.giveUp('nobody')).toBe('unknown');
});
