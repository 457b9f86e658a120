/** `gpu-gate runs` and `gpu-gate remove`: the jobs of a running gate, and the removal of one that has ended. */

import { plain } from '../text/plain.js';
import type { GateOptions } from './client/ask-gate.js';
import { shownRuns, type ShownRuns } from './client/gate-shapes.js';
import { failureOf } from './client/problem-words.js';
import { fail, reachGate } from './client/reach-gate.js';
import { say, sayJson, screenWidth } from './terminal/say.js';
import { table } from './terminal/table.js';

export interface RunsOptions extends GateOptions {
  readonly json?: boolean;
}

export async function showRuns(options: RunsOptions): Promise<void> {
  const gate = reachGate(options);
  if (gate === null) return;
  const said = await gate.ask('/runs');
  const read = said.kind === 'answered' && said.status === 200 ? shownRuns.safeParse(said.body) : null;
  if (said.kind !== 'answered' || read === null || !read.success) return fail(failureOf(said));
  if (options.json === true) return sayJson(said.body);
  if (read.data.runs.length === 0) return say('there are no runs');
  const rows = read.data.runs.map((run) => rowOf(run).map(plain));
  say(...table(['run', 'state', 'user', 'cards', 'exit', 'since', 'image', 'error'], rows, screenWidth()));
}

export interface RemoveOptions extends GateOptions {
  readonly lost?: boolean;
}

/** Removes a run that has ended; the gate refuses while it is alive. `lost` removes one whose state is unknown. */
export async function removeRun(runId: string, options: RemoveOptions): Promise<void> {
  const gate = reachGate(options);
  if (gate === null) return;
  const path = `/runs/${encodeURIComponent(runId)}${options.lost === true ? '?lost=true' : ''}`;
  const said = await gate.ask(path, { method: 'DELETE', limitMs: 60_000 });
  if (said.kind !== 'answered' || said.status !== 204) return fail(failureOf(said));
  say(options.lost === true ? `removed as lost: ${runId}; nothing was stopped` : `removed: ${runId}`);
}

function rowOf(run: ShownRuns['runs'][number]): readonly string[] {
  const since = run.finished_at ?? run.started_at ?? run.created_at;
  return [
    run.run_id,
    run.position == null ? run.state : `${run.state} (${run.position})`,
    run.principal ?? '-',
    run.cards.map(({ index, uuid }) => index ?? uuid ?? '?').join(',') || '-',
    String(run.exit_code ?? '-'),
    since?.replace(/\.\d+/, '') ?? '-',
    run.image ?? '-',
    run.error ?? '',
  ];
}
