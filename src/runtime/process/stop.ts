/** Ends the processes of a job: told first, killed after a grace. */

import type { StopAnswer } from '../../model/ports/hands.js';
import type { Clock } from '../../model/ports/outside.js';
import type { StartedJob } from './claim-file.js';
import type { ClaimsFolder } from './claims-folder.js';
import type { EnvironmentSearch } from './environment-search.js';
import { liveProcesses } from './kernel.js';

export interface StopParts {
  readonly claims: ClaimsFolder;
  readonly search: EnvironmentSearch;
  readonly kernel: string;
  readonly clock: Clock;
}

/** Only of this pid namespace: a pid of another means somebody else here. */
export async function stopJob(id: string, graceSeconds: number, parts: StopParts): Promise<StopAnswer> {
  const entry = await parts.claims.byId(id);
  if (entry === null || entry.standing.kind === 'removing') return { kind: 'gone' };
  const job = entry.standing;
  if (job.kind !== 'run') return { kind: 'failed', daemonMessage: 'it was not started yet' };
  if (job.kernel !== parts.kernel) {
    return { kind: 'failed', daemonMessage: 'it was started in another pid namespace; stop it from there' };
  }
  if ((await signal('SIGTERM', id, job, parts)) === 0) return { kind: 'ended' };
  parts.clock.after(graceSeconds * 1000, () => void signal('SIGKILL', id, job, parts).catch(() => undefined));
  return { kind: 'stopping' };
}

/**
 * Signals the job's own processes: those of its session, and those that left it and carry its id. Its launcher is left alone, which
 * writes down how the job ended. The answer is how many there were.
 */
async function signal(
  name: 'SIGTERM' | 'SIGKILL',
  id: string,
  job: StartedJob,
  { search }: StopParts,
): Promise<number> {
  const live = liveProcesses();
  const inSession = live.filter(({ session, pid }) => session === job.pid && pid !== job.pid).map(({ pid }) => pid);
  const others = live.filter(({ session }) => session !== job.pid).map(({ pid }) => pid);
  const strays = await search.carriers(id, new Set(others));
  const all = [...inSession, ...strays].filter((pid) => pid !== process.pid);
  return all.filter((pid) => told(pid, name)).length;
}

function told(pid: number, name: 'SIGTERM' | 'SIGKILL'): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    // It ended by itself.
    return false;
  }
}
