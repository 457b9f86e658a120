/** Which processes carry a claim's id in their environment, wherever they have moved. */

import { run } from '../../program/run.js';
import { CLAIM_ID_VARIABLE } from './job-environment.js';

export interface EnvironmentSearch {
  /** Whether any of these processes does. In doubt yes; where it cannot be checked (no grep here), no. */
  carried(id: string, pids: ReadonlySet<number>): Promise<boolean>;
  /** Those that certainly do. */
  carriers(id: string, pids: ReadonlySet<number>): Promise<readonly number[]>;
}

const WITHIN_MS = 2000;

/**
 * Searched by a separate program with a time limit: reading the environment of a process that is stuck in a driver can block
 * for as long as that is stuck, and must not block this process. While one search hangs, no other is started.
 */
export function createEnvironmentSearch(): EnvironmentSearch {
  let stuck = false;
  return {
    async carriers(id, pids) {
      if (stuck) return [];
      const ran = await search(id, pids);
      if (ran.kind !== 'exited') return [];
      return Array.from(ran.stdout.matchAll(/^\/proc\/(\d+)\/environ$/gm), ([, pid]) => Number(pid));
    },
    async carried(id, pids) {
      if (stuck) return true;
      const ran = await search(id, pids);
      switch (ran.kind) {
        case 'exited':
          // Its exit code also reports every unreadable file, and there are always some.
          return ran.stdout !== '';
        case 'not_started':
          return false;
        case 'ran_out':
          stuck = true;
          void ran.gone.then(() => (stuck = false));
          return true;
        case 'killed':
        case 'too_much':
          return true;
        default:
          return ran satisfies never;
      }
    },
  };
}

function search(id: string, pids: ReadonlySet<number>): ReturnType<typeof run> {
  const files = Array.from(pids, (pid) => `/proc/${pid}/environ`);
  return run('/bin/grep', ['-lsF', '-e', `${CLAIM_ID_VARIABLE}=${id}`, ...files], WITHIN_MS);
}
