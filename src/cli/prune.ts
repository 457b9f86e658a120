/** `gpu-gate prune`: removes runs that ended long enough ago. */

import type { GateOptions } from './client/ask-gate.js';
import { durationMs } from './client/duration.js';
import { shownRuns } from './client/gate-shapes.js';
import { failureOf } from './client/problem-words.js';
import { fail, reachGate } from './client/reach-gate.js';
import { EXIT } from './terminal/exit-codes.js';
import { complain, say } from './terminal/say.js';

export interface PruneOptions extends GateOptions {
  /** `7d`, `12h`, `30m`. */
  readonly older: string;
}

/** What belongs to somebody else is left, and said; so is what the gate would not remove. */
export async function prune(options: PruneOptions): Promise<void> {
  const gate = reachGate(options);
  if (gate === null) return;
  const olderMs = durationMs(options.older);
  if (olderMs === null) {
    return fail({ lines: [`--older is ${JSON.stringify(options.older)}: expected 7d, 12h or 30m`], exit: EXIT.usage });
  }
  const beforeMs = Date.now() - olderMs;
  const said = await gate.ask('/runs');
  const read = said.kind === 'answered' && said.status === 200 ? shownRuns.safeParse(said.body) : null;
  if (read === null || !read.success) return fail(failureOf(said));
  const old = read.data.runs.filter(({ finished_at: at }) => at !== null && Date.parse(at) < beforeMs);
  let removed = 0;
  for (const { run_id: runId } of old) {
    const done = await gate.ask(`/runs/${encodeURIComponent(runId)}`, { method: 'DELETE', limitMs: 60_000 });
    if (done.kind === 'answered' && done.status === 204) removed += 1;
    else complain(`${runId} stays`, ...failureOf(done).lines.map((line) => `  ${line.trim()}`));
  }
  say(`removed ${removed} of ${old.length} runs that ended more than ${options.older} ago`);
  if (removed < old.length) process.exitCode = EXIT.refused;
}
