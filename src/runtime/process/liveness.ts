/** Whether anything of a job still lives, asked of the kernel and never believed from a file. */

import type { Standing } from './claim-file.js';
import { createEnvironmentSearch, type EnvironmentSearch } from './environment-search.js';
import { liveProcess, liveProcesses, sameBoot } from './kernel.js';

type Run = Extract<Standing, { kind: 'run' }>;

export interface Liveness {
  /** For each of these runs, by claim id, whether it lives. In doubt it does. */
  of(runs: readonly { readonly id: string; readonly run: Run }[]): Promise<ReadonlyMap<string, boolean>>;
  /** These are all that there are: what was found out about others is forgotten. */
  keepOnly(ids: readonly string[]): void;
}

/**
 * A job lives while its launcher does, or any process of the launcher's session, or any process that carries the claim's id
 * in its environment: workers that have outlived their parent still use its cards. What has ended once has ended for good.
 */
export function createLiveness(kernel: string): Liveness {
  const ended = new Set<string>();
  const search = createEnvironmentSearch();

  return {
    async of(runs) {
      const alive = new Map<string, boolean>();
      const leaderless: { readonly id: string; readonly run: Run }[] = [];
      for (const { id, run } of runs) {
        if (ended.has(id) || !sameBoot(run.kernel, kernel)) alive.set(id, false);
        // Another pid namespace: its numbers say nothing here, and its processes may live.
        else if (run.kernel !== kernel) alive.set(id, true);
        else if (launcherLives(run)) alive.set(id, true);
        else leaderless.push({ id, run });
      }
      const left = leaderless.length === 0 ? new Set<string>() : await leftBehind(leaderless, search);
      for (const { id } of leaderless) {
        alive.set(id, left.has(id));
        if (!left.has(id)) ended.add(id);
      }
      return alive;
    },
    keepOnly(ids) {
      const there = new Set(ids);
      for (const id of ended) if (!there.has(id)) ended.delete(id);
    },
  };
}

function launcherLives({ pid, startTicks }: Run): boolean {
  return liveProcess(pid)?.startTicks === startTicks;
}

/** The ids of those of which a process lives though the launcher does not. */
async function leftBehind(
  runs: readonly { readonly id: string; readonly run: Run }[],
  search: EnvironmentSearch,
): Promise<ReadonlySet<string>> {
  const left = new Set<string>();
  // Twice: a process can be born behind the place that the first walk has passed, of one that dies before it is reached.
  for (let walk = 0; walk < 2; walk++) {
    const processes = liveProcesses();
    const pids = new Set(processes.map(({ pid }) => pid));
    for (const { id, run } of runs.filter((one) => !left.has(one.id))) {
      // The number of a session goes to no new process while anything is left of the session.
      const inSession = !pids.has(run.pid) && processes.some(({ session }) => session === run.pid);
      if (inSession || (await search.carried(id, pids))) left.add(id);
    }
  }
  return left;
}
