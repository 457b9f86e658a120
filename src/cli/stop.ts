/** `gpu-gate stop`: ends a run of the caller's own, or any for an operator. */

import type { GateOptions } from './client/ask-gate.js';
import { failureOf } from './client/problem-words.js';
import { fail, reachGate } from './client/reach-gate.js';
import { EXIT } from './terminal/exit-codes.js';
import { say } from './terminal/say.js';

export interface StopOptions extends GateOptions {
  readonly grace: string;
}

export async function stopRun(runId: string, options: StopOptions): Promise<void> {
  const gate = reachGate(options);
  if (gate === null) return;
  if (!/^\d{1,4}$/.test(options.grace)) {
    return fail({ lines: [`--grace: expected a whole number of seconds; got ${options.grace}`], exit: EXIT.usage });
  }
  const body = JSON.stringify({ grace_seconds: Number(options.grace) });
  const path = `/runs/${encodeURIComponent(runId)}/stop`;
  const said = await gate.ask(path, { method: 'POST', body, limitMs: 60_000 });
  if (said.kind !== 'answered' || said.status >= 300) return fail(failureOf(said));
  say(WORDS[said.status]?.(runId, options.grace) ?? `stopped: ${runId}`);
}

const WORDS: Readonly<Record<number, (runId: string, grace: string) => string>> = {
  200: (runId) => `${runId} has ended already`,
  202: (runId, grace) => `${runId} was told to end; it is killed if it still runs in ${grace} s`,
  204: (runId) => `${runId} had not begun, and will not`,
};
