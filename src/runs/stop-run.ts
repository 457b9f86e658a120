/** Ends a run at a word of its owner or of an operator, whatever state it is in. */

import { withoutCopies } from '../admission/existing/existing-run.js';
import type { Principal, Run } from '../model/admission.js';
import { LABEL } from '../model/labels.js';
import type { StopDone } from '../model/ports/admissions.js';
import { holds, type SeenContainer } from '../model/snapshot.js';
import { inTime } from '../time/in-time.js';
import { containerOf, mayTouch, notAsked, notTold, runOf, type RunsParts } from './run-of.js';

/** A start that is under way here is waited for, and then stopped as any other. */
const START_WITHIN_MS = 30_000;

export async function stopRun(runId: string, graceSeconds: number, by: Principal, parts: RunsParts): Promise<StopDone> {
  const place = parts.line.place(runId);
  if (place !== null && !mayTouch(place.principal, by)) return 'forbidden';
  const leftLine = place !== null && parts.line.takeAway(runId, 'stopped');
  const found = await find(runId, parts);
  if ('kind' in found) return found;
  const { container } = found;
  if (container === null) return leftLine ? 'left_line' : withoutContainer(runId, by, parts);
  if (!mayTouch(container.labels[LABEL.principal], by)) return 'forbidden';
  if (container.outOfReach) return 'out_of_reach';
  if (container.state === 'created') return stopCreated(runId, graceSeconds, by, container, parts);
  return stopLive(container, graceSeconds, parts);
}

async function find(runId: string, { books }: RunsParts) {
  const listed = await books.findRun(runId);
  if (listed.kind === 'blind') return notAsked(listed.detail);
  return { container: containerOf(await withoutCopies(listed.value, books), runId) };
}

/** Its container is gone, and it is remembered for a while. */
function withoutContainer(runId: string, by: Principal, { recentRuns }: RunsParts): StopDone {
  const run: Run | null = recentRuns.get(runId);
  if (run === null) return 'unknown';
  return mayTouch(run.principal, by) ? { kind: 'ended', run } : 'forbidden';
}

async function stopLive(container: SeenContainer, graceSeconds: number, parts: RunsParts): Promise<StopDone> {
  if (!holds(container.state)) return { kind: 'ended', run: await runOf(container, parts) };
  const answer = await parts.hands.stop(container.id, graceSeconds);
  switch (answer.kind) {
    case 'stopping':
      return { kind: 'stopping', run: await runOf(container, parts) };
    case 'ended':
      return { kind: 'ended', run: await runOf(container, parts) };
    case 'gone':
      return 'unknown';
    case 'failed':
      return { kind: 'failed', daemonMessage: answer.daemonMessage };
    case 'in_doubt':
      return notTold(`the run was told to end: ${answer.detail}`);
    default:
      return answer satisfies never;
  }
}

/** Nobody but its creator starts it: here it is awaited, another gate's is left to that gate, and what nobody is at is removed. */
async function stopCreated(
  runId: string,
  graceSeconds: number,
  by: Principal,
  container: SeenContainer,
  parts: RunsParts,
): Promise<StopDone> {
  const attempt = parts.starting.of(runId);
  if (attempt !== null) {
    if ((await inTime(attempt, START_WITHIN_MS, parts.clock)) !== null) {
      return stopRun(runId, graceSeconds, by, { ...parts, starting: { ...parts.starting, of: () => null } });
    }
    return { kind: 'start_pending', why: 'its start takes long, and Docker stops nothing that it is starting' };
  }
  if (!parts.starting.isOwn(container)) {
    const gate = container.labels[LABEL.admittedBy] || 'another gate';
    return { kind: 'start_pending', why: `the gate ${gate} created it and alone may start it` };
  }
  const removed = await parts.hands.remove(container.id, 'created');
  if (removed.kind === 'in_doubt') return notTold(`it was removed: ${removed.detail}`);
  if (removed.kind === 'left') return stopLive({ ...container, state: removed.state }, graceSeconds, parts);
  return 'removed';
}
