/** Whether any process of a job still lives, by asking the kernel; no file is trusted for it. */

import { createEnvironmentSearch, type EnvironmentSearch } from './environment-search.js';
import { liveProcess, liveProcesses, sameBoot } from './kernel.js';
import { createOtherNamespaces, type Asked, type Life } from './other-namespaces.js';

export interface Liveness {
  /**
   * For each of these jobs, by claim id, whether it lives. In doubt it lives, or is out of reach; either way it holds its
   * cards.
   */
  of(runs: readonly Asked[]): Promise<ReadonlyMap<string, Life>>;
  /** These are all current claims: forgets what is cached about others. */
  keepOnly(ids: readonly string[]): void;
}

/**
 * A job lives while its launcher does, or any process of the launcher's session, or any process with the claim's id in its
 * environment: workers that outlive their parent still use its cards. A job that has ended stays ended, and so does every
 * job of another boot: a machine runs one kernel at a time, and its gates have a claims folder of their own. (A container
 * with its own boot id, as systemd-nspawn makes one, counts as a machine: no gate in it may share a folder with one
 * outside.)
 */
export function createLiveness(kernel: string): Liveness {
  const ended = new Set<string>();
  const search = createEnvironmentSearch();
  const others = createOtherNamespaces(kernel, search);

  return {
    async of(runs) {
      const lives = new Map<string, Life>();
      const asked = runs.filter(({ id, run }) => !ended.has(id) && sameBoot(run.kernel, kernel));
      for (const { id } of runs) lives.set(id, 'ended');
      const leaderless: Asked[] = [];
      for (const one of asked.filter(({ run }) => run.kernel === kernel)) {
        if (launcherLives(one)) lives.set(one.id, 'lives');
        else leaderless.push(one);
      }
      if (leaderless.length > 0) for (const id of await leftBehind(leaderless, search)) lives.set(id, 'lives');
      const elsewhere = asked.filter(({ run }) => run.kernel !== kernel);
      if (elsewhere.length > 0) for (const [id, life] of await others.of(elsewhere)) lives.set(id, life);
      for (const [id, life] of lives) if (life === 'ended') ended.add(id);
      return lives;
    },
    keepOnly(ids) {
      const kept = new Set(ids);
      for (const id of ended) if (!kept.has(id)) ended.delete(id);
      others.keepOnly(kept);
    },
  };
}

function launcherLives({ run: { pid, startTicks } }: Asked): boolean {
  return liveProcess(pid)?.startTicks === startTicks;
}

/** The ids of jobs that have a live process although their launcher has ended. */
async function leftBehind(runs: readonly Asked[], search: EnvironmentSearch): Promise<ReadonlySet<string>> {
  const left = new Set<string>();
  // Twice: a process that dies before the scan reaches it may have forked a child behind the scan's position.
  for (let walk = 0; walk < 2; walk++) {
    const processes = liveProcesses();
    const pids = new Set(processes.map(({ pid }) => pid));
    for (const { id, run } of runs.filter((one) => !left.has(one.id))) {
      // The kernel does not reuse a session's number while any process of the session exists.
      const inSession = !pids.has(run.pid) && processes.some(({ session }) => session === run.pid);
      if (inSession || (await search.carried(id, pids))) left.add(id);
    }
  }
  return left;
}
