/** `gpu-gate wait`: waits for the end of a run, and ends with its exit code. */

import type { GateOptions } from './client/ask-gate.js';
import { failureOf } from './client/problem-words.js';
import { fail, reachGate } from './client/reach-gate.js';
import { untilRunEnded } from './client/run-ended.js';
import { EXIT } from './terminal/exit-codes.js';
import { untilInterrupted } from './terminal/interrupt.js';
import { complain } from './terminal/say.js';

export async function waitForRun(runId: string, options: GateOptions): Promise<void> {
  const gate = reachGate(options);
  if (gate === null) return;
  const interrupted = untilInterrupted();
  const ended = await untilRunEnded(gate, runId, interrupted);
  if (interrupted.aborted) {
    process.exitCode = EXIT.interrupted;
    return;
  }
  if (ended === null) return fail(failureOf(await gate.ask(`/runs/${encodeURIComponent(runId)}`)));
  if (ended.error !== null) complain(`${runId}: ${ended.error}`);
  process.exitCode = ended.exitCode ?? EXIT.undecided;
}
