/** Waits until a run has ended. */

import { pause } from '../../time/pause.js';
import { systemClock } from '../../time/system-clock.js';
import type { Gate } from './ask-gate.js';
import { shownRun } from './gate-shapes.js';

export interface RunEnded {
  /** Null where the gate cannot tell it. */
  readonly exitCode: number | null;
  /** Why it ended so, in words. */
  readonly error: string | null;
}

const AGAIN_MS = 1000;
const ENDED: ReadonlySet<string> = new Set(['exited', 'dead', 'start_failed']);

/** Null where the signal aborted first, or the run is not known any more. A gate that does not answer is being restarted. */
export async function untilRunEnded(gate: Gate, runId: string, signal: AbortSignal): Promise<RunEnded | null> {
  while (!signal.aborted) {
    const said = await gate.ask(`/runs/${encodeURIComponent(runId)}`, { signal });
    if (said.kind === 'answered' && said.status >= 400 && said.status < 500) return null;
    const read = said.kind === 'answered' && said.status === 200 ? shownRun.safeParse(said.body) : null;
    if (read?.success === true && ENDED.has(read.data.state)) {
      return { exitCode: read.data.exit_code, error: read.data.error };
    }
    await pause(AGAIN_MS, systemClock, signal);
  }
  return null;
}
