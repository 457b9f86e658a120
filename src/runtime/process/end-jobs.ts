/** Ends whatever jobs have claims in a folder. For whoever made all of them, as the demonstration did; the gate ends no job. */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readClaimFileName } from './claim-file.js';
import { liveProcess } from './kernel.js';

/** Kills each job's process group, at once and without waiting, so that it can be done while the process ends. */
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
