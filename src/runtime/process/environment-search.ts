/** Which processes carry a claim's id in their environment, wherever they have gone. */

import { run } from '../../program/run.js';
import { CLAIM_ID_VARIABLE } from './job-environment.js';

export interface EnvironmentSearch {
  /** Whether any of these processes does. In doubt it does; where nobody can tell (no grep here), none does. */
  carried(id: string, pids: ReadonlySet<number>): Promise<boolean>;
}

const WITHIN_MS = 2000;

/**
 * Asked by a program of its own, within a time limit: reading the environment of a process that is stuck in a driver can
 * last as long as that is stuck, and then it must not be this process that waits. While one hangs no other is started.
 */
export function createEnvironmentSearch(): EnvironmentSearch {
  let stuck = false;
  return {
    async carried(id, pids) {
      if (stuck) return true;
      const files = Array.from(pids, (pid) => `/proc/${pid}/environ`);
      const ran = await run('/bin/grep', ['-lsF', '-e', `${CLAIM_ID_VARIABLE}=${id}`, ...files], WITHIN_MS);
      switch (ran.kind) {
        case 'exited':
          // Its exit code tells of every file that could not be read too, and there are always some.
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
