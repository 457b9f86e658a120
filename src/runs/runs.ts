/** The jobs on this machine, as the runtime lists them. */

import { existingRun, withoutCopies } from '../admission/existing/existing-run.js';
import type { RecentRuns } from '../admission/existing/recent-runs.js';
import type { Refusal, Run } from '../model/admission.js';
import { cardsOf } from '../model/container-cards.js';
import { LABEL } from '../model/labels.js';
import type { Runs } from '../model/ports/admissions.js';
import type { Books } from '../model/ports/books.js';
import type { CardStore } from '../model/ports/card-store.js';
import type { Hands } from '../model/ports/hands.js';
import { refuse } from '../model/refuse.js';
import { type Probed, type SeenContainer, holds } from '../model/snapshot.js';
import { exitWords } from './exit-words.js';

export interface RunsParts {
  readonly books: Books;
  readonly hands: Pick<Hands, 'remove' | 'giveUp'>;
  readonly cardStore: Pick<CardStore, 'remembered'>;
  readonly recentRuns: Pick<RecentRuns, 'get' | 'all' | 'forget'>;
}

/** A run is a container with a run id or a claim. One whose container is gone may be remembered for an hour. */
export function createRuns(parts: RunsParts): Runs {
  const { books, hands, recentRuns } = parts;
  return {
    async list() {
      const listed = await books.listRuns();
      if (listed.kind === 'blind') return listed;
      const jobs = listed.value.containers.filter(
        (container) => container.labels[LABEL.runId] || container.claim !== null,
      );
      const runs = await Promise.all(jobs.map((container) => runOf(container, parts)));
      const there = new Set(runs.map((run) => run.runId));
      const failed = recentRuns.all().filter((run) => !there.has(run.runId));
      return { ...listed, value: [...runs, ...failed] };
    },

    async get(runId): Promise<Probed<Run | null>> {
      const listed = await books.findRun(runId);
      if (listed.kind === 'blind') return listed;
      const container = containerOf(await withoutCopies(listed.value, books), runId);
      return { ...listed, value: container ? await runOf(container, parts) : recentRuns.get(runId) };
    },

    async remove(runId) {
      const listed = await books.findRun(runId);
      if (listed.kind === 'blind') return notAsked(listed.detail);
      const container = containerOf(await withoutCopies(listed.value, books), runId);
      if (!container) return recentRuns.forget(runId) ? 'removed' : 'unknown';
      if (container.outOfReach) return 'out_of_reach';
      if (holds(container.state)) return 'alive';
      const removed = await hands.remove(container.id, 'ended');
      if (removed.kind === 'left') return 'alive';
      return removed.kind === 'in_doubt' ? notTold(removed.detail) : 'removed';
    },

    async giveUp(runId) {
      const listed = await books.findRun(runId);
      if (listed.kind === 'blind') return notAsked(listed.detail);
      const container = containerOf(await withoutCopies(listed.value, books), runId);
      if (!container) {
        if (recentRuns.get(runId) === null) return 'unknown';
        return {
          kind: 'in_reach',
          why: `the start of ${runId} failed, and nothing of it is left; remove it as any other`,
        };
      }
      const given = await hands.giveUp(container.id);
      switch (given.kind) {
        case 'given_up':
          return 'given_up';
        case 'gone':
          return 'unknown';
        case 'in_reach':
          return given;
        case 'in_doubt':
          return notTold(given.detail);
        default:
          return given satisfies never;
      }
    },
  };
}

function notAsked(detail: string): Refusal {
  return refuse('docker_unavailable', { detail: `the runtime could not be asked for this run: ${detail}` });
}

function notTold(detail: string): Refusal {
  return refuse('docker_unavailable', { detail: `the runtime did not say whether the run was removed: ${detail}` });
}

function containerOf(containers: readonly SeenContainer[], runId: string): SeenContainer | null {
  const existing = existingRun(containers, runId);
  return existing.kind === 'none' || existing.kind === 'stranger' ? null : existing.container;
}

async function runOf(container: SeenContainer, { books, cardStore }: RunsParts): Promise<Run> {
  const described = await books.describe(container);
  const details = described.kind === 'seen' ? described.value : null;
  return {
    runId: container.labels[LABEL.runId] || container.name,
    state: container.state,
    cards: cardsOf(container, cardStore.remembered()).map(({ index, uuid }) => ({ index, uuid })),
    exitCode: details?.exitCode ?? null,
    oomKilled: details?.oomKilled ?? null,
    error: details?.error ?? exitWords(details?.exitCode ?? null, details?.oomKilled ?? null),
    createdAt: new Date(container.createdAtMs).toISOString(),
    startedAt: details?.startedAt ?? null,
    finishedAt: details?.finishedAt ?? null,
  };
}
