/**
 * Kills all jobs with claims in a folder. Only for a caller that started all of them, like the demonstration; the gate ends
 * no job.
 */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readClaimFileName } from './claim-file.js';
import { liveProcess } from './kernel.js';

/** Kills each job's process group, synchronously and without waiting, so that it works while the process exits. */
export function endJobsNow(folder: string): void {
  for (const file of namesIn(folder).flatMap((name) => namesIn(join(folder, name)))) {
    const standing = readClaimFileName(file)?.standing;
    if (standing?.kind !== 'run' || liveProcess(standing.pid)?.startTicks !== standing.startTicks) continue;
    try {
      process.kill(-standing.pid, 'SIGKILL');
    } catch {
      // It ended by itself.
    }
  }
}

function namesIn(place: string): readonly string[] {
  try {
    return readdirSync(place);
  } catch {
    return [];
  }
}
