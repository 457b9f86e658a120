/** `gpu-gate logs`: what a run printed, as it comes. */

import { pipeline } from 'node:stream/promises';
import { errorWords } from '../text/error-words.js';
import type { GateOptions } from './client/ask-gate.js';
import { failureOf } from './client/problem-words.js';
import { fail, reachGate } from './client/reach-gate.js';
import { EXIT } from './terminal/exit-codes.js';
import { untilInterrupted } from './terminal/interrupt.js';

export interface LogsOptions extends GateOptions {
  readonly follow?: boolean;
  readonly tail?: string;
}

/** Ctrl-C ends the reading and not the run. */
export async function showLogs(runId: string, options: LogsOptions): Promise<void> {
  const gate = reachGate(options);
  if (gate === null) return;
  const query = new URLSearchParams({
    ...(options.follow === true ? { follow: 'true' } : {}),
    ...(options.tail === undefined ? {} : { tail: options.tail }),
  });
  const interrupted = untilInterrupted();
  const said = await gate.open(`/runs/${encodeURIComponent(runId)}/logs?${query.toString()}`, interrupted);
  if (said.kind !== 'stream') return fail(failureOf(said));
  try {
    await pipeline(said.stream, process.stdout, { end: false });
  } catch (error) {
    // Ctrl-C, or whoever reads our output has had enough.
    if (interrupted.aborted || (error as NodeJS.ErrnoException).code === 'EPIPE') return;
    fail({ lines: [`the output broke off: ${errorWords(error)}`], exit: EXIT.undecided });
  }
}
