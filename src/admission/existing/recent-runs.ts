/** Runs without a container that can be queried for another hour. */

import type { Run } from '../../model/admission.js';
import { LABEL, ownLabels } from '../../model/labels.js';
import type { Clock } from '../../model/ports/outside.js';
import type { SeenContainer } from '../../model/snapshot.js';

/** A container that was removed as never started, but had run after all: the run counts as executed and is not run again. */
export interface RemovedRun {
  readonly container: SeenContainer;
  readonly exitCode: number | null;
}

export interface RecentRuns {
  /** A start that failed after its caller got `starting`. */
  startFailed(run: Run): void;
  removed(run: RemovedRun): void;
  /** Null also for a run whose start failed, since that run may be tried again. */
  removedRun(runId: string): RemovedRun | null;
  /** The run in the form that `/runs` returns. */
  get(runId: string): Run | null;
  all(): readonly Run[];
  /** Returns whether it was remembered. */
  forget(runId: string): boolean;
}

const KEPT_MS = 3_600_000;

export function createRecentRuns(clock: Pick<Clock, 'now' | 'monotonic'>): RecentRuns {
  const kept = new Map<string, { readonly run: Run; readonly removed: RemovedRun | null; readonly atMs: number }>();

  function keep(run: Run, removed: RemovedRun | null): void {
    kept.set(run.runId, { run, removed, atMs: clock.monotonic() });
  }

  function entry(runId: string) {
    for (const [old, { atMs }] of kept) if (clock.monotonic() - atMs > KEPT_MS) kept.delete(old);
    return kept.get(runId) ?? null;
  }

  return {
    startFailed: (run) => keep(run, null),
    removed: (run) => keep(asRun(run, clock.now()), run),
    removedRun: (runId) => entry(runId)?.removed ?? null,
    get: (runId) => entry(runId)?.run ?? null,
    all() {
      entry('');
      return Array.from(kept.values(), ({ run }) => run);
    },
    forget: (runId) => kept.delete(runId),
  };
}

function asRun({ container, exitCode }: RemovedRun, nowMs: number): Run {
  const { labels, name, claim, createdAtMs } = container;
  const byUuid = (claim?.uuids ?? []).map((uuid) => ({ index: null, uuid }));
  const byIndex = (claim?.indices ?? []).map((index) => ({ index, uuid: null }));
  return {
    runId: labels[LABEL.runId] || name,
    state: 'exited',
    principal: labels[LABEL.principal] || null,
    labels: ownLabels(labels),
    image: container.image ?? null,
    command: container.command ?? null,
    cards: byUuid.length > 0 ? byUuid : byIndex,
    exitCode,
    oomKilled: null,
    error: 'it ran and ended while a gate took its container for one that never started and removed it',
    createdAt: new Date(createdAtMs).toISOString(),
    startedAt: null,
    finishedAt: new Date(nowMs).toISOString(),
  };
}
