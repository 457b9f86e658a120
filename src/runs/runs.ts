/** The jobs on this machine, as the runtime lists them. */

import { withoutCopies } from '../admission/existing/existing-run.js';
import type { Principal, Refusal, Run } from '../model/admission.js';
import { LABEL } from '../model/labels.js';
import type { RunFilter, Runs } from '../model/ports/admissions.js';
import { holds, type Probed, type SeenContainer } from '../model/snapshot.js';
import { containerOf, mayTouch, notAsked, notTold, runOf, waitingRun, type RunsParts } from './run-of.js';
import { stopRun } from './stop-run.js';

/** A run is a container with a run id or a claim. One whose container is gone may be remembered for an hour. */
export function createRuns(parts: RunsParts): Runs {
  const { books, hands, recentRuns, line } = parts;

  /** The run's container, null where it has none. */
  async function find(runId: string): Promise<{ readonly container: SeenContainer | null } | Refusal> {
    const listed = await books.findRun(runId);
    if (listed.kind === 'blind') return notAsked(listed.detail);
    return { container: containerOf(await withoutCopies(listed.value, books), runId) };
  }

  return {
    async list(filter = {}) {
      const listed = await books.listRuns();
      if (listed.kind === 'blind') return listed;
      const jobs = listed.value.containers.filter(isRun);
      const wanted = jobs.filter((job) => fits(filter, job.state, job.labels[LABEL.principal])).toSorted(newestFirst);
      const there = new Set(jobs.map((job) => job.labels[LABEL.runId] || job.name));
      const failed = recentRuns
        .all()
        .filter((run) => !there.has(run.runId) && fits(filter, run.state, run.principal ?? undefined));
      // Only what is shown is asked for one by one.
      const shown = wanted.slice(0, filter.limit ?? wanted.length);
      const runs = await Promise.all(shown.map((container) => runOf(container, parts)));
      const waiting = line
        .places()
        .map((place, at) => waitingRun(place, at + 1))
        .filter((run) => !there.has(run.runId) && fits(filter, run.state, run.principal ?? undefined));
      const all = [...waiting, ...runs, ...failed];
      return { ...listed, value: all.slice(0, filter.limit ?? all.length) };
    },

    async get(runId): Promise<Probed<Run | null>> {
      const listed = await books.findRun(runId);
      if (listed.kind === 'blind') return listed;
      const container = containerOf(await withoutCopies(listed.value, books), runId);
      return { ...listed, value: container ? await runOf(container, parts) : (recentRuns.get(runId) ?? inLine(runId)) };
    },

    async remove(runId, by) {
      const found = await find(runId);
      if ('kind' in found) return found;
      const { container } = found;
      if (!container) return leaveLine(runId, by) ?? forget(runId, by);
      if (!mayTouch(container.labels[LABEL.principal], by)) return 'forbidden';
      if (container.outOfReach) return 'out_of_reach';
      if (holds(container.state)) return 'alive';
      const removed = await hands.remove(container.id, 'ended');
      if (removed.kind === 'left') return 'alive';
      return removed.kind === 'in_doubt' ? notTold(`the run was removed: ${removed.detail}`) : 'removed';
    },

    async removeWaiting(runId, by) {
      const left = leaveLine(runId, by);
      if (left !== null) return left;
      const found = await find(runId);
      if ('kind' in found) return found;
      if (found.container === null) return recentRuns.get(runId) === null ? 'unknown' : 'ended';
      return holds(found.container.state) ? 'alive' : 'ended';
    },

    async giveUp(runId) {
      const found = await find(runId);
      if ('kind' in found) return found;
      const { container } = found;
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
          return notTold(`the run was removed: ${given.detail}`);
        default:
          return given satisfies never;
      }
    },

    stop: (runId, graceSeconds, by) => stopRun(runId, graceSeconds, by, parts),

    async output(runId, wanted, by, signal) {
      const found = await find(runId);
      if ('kind' in found) return found;
      const { container } = found;
      if (container === null) return 'unknown';
      if (!mayTouch(container.labels[LABEL.principal], by)) return 'forbidden';
      const answer = await books.output(container, wanted, signal);
      if (answer.kind === 'unavailable') return notAsked(answer.detail);
      return answer.kind === 'gone' ? 'unknown' : answer;
    },
  };

  function inLine(runId: string): Run | null {
    const place = line.place(runId);
    return place === null ? null : waitingRun(place, place.position);
  }

  /** Null where it is not in line. Whoever posted it is told that it was stopped. */
  function leaveLine(runId: string, by: Principal): 'removed' | 'forbidden' | null {
    const place = line.place(runId);
    if (place === null) return null;
    if (!mayTouch(place.principal, by)) return 'forbidden';
    return line.takeAway(runId, 'stopped') ? 'removed' : null;
  }

  function forget(runId: string, by: Principal): 'removed' | 'unknown' | 'forbidden' {
    const run = recentRuns.get(runId);
    if (run === null) return 'unknown';
    if (!mayTouch(run.principal, by)) return 'forbidden';
    return recentRuns.forget(runId) ? 'removed' : 'unknown';
  }
}

function isRun({ labels, claim }: SeenContainer): boolean {
  return Boolean(labels[LABEL.runId]) || claim !== null;
}

function fits({ state, principal }: RunFilter, ofState: Run['state'], ofPrincipal: string | undefined): boolean {
  return (state === undefined || state === ofState) && (principal === undefined || principal === ofPrincipal);
}

function newestFirst(one: SeenContainer, other: SeenContainer): number {
  return other.createdAtMs - one.createdAtMs;
}
