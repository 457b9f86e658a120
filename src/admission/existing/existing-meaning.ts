/** What an existing container of a run means for a request: one kind per row of the table in src/README.md. Pure. */

import type { JobRequest, Refusal } from '../../model/admission.js';
import { LABEL } from '../../model/labels.js';
import { refuse } from '../../model/refuse.js';
import type { SeenContainer } from '../../model/snapshot.js';
import { standingOf, type Standpoint } from '../../occupancy/left-behind.js';
import { shortId } from '../../text/short-id.js';
import { existingRun } from './existing-run.js';
import type { RemovedRun } from './recent-runs.js';

export type Existing =
  | {
      readonly kind:
        | 'alive'
        | 'ended'
        /** Being removed: wait until it is gone. */
        | 'removing'
        /** Created, and this process is checking or starting it. */
        | 'under_way'
        /** Created, and its creator will never start it: remove it and decide anew. */
        | 'left_behind'
        /** Created by another gate; only that gate may start it. */
        | 'of_another_gate';
      readonly container: SeenContainer;
    }
  /** Its container was removed, and it has run. */
  | { readonly kind: 'has_run'; readonly run: RemovedRun }
  | Refusal;

/**
 * Null where nothing of this run exists: decide. `containers` are all containers of this run except copies; `removedRun` is
 * the record of a removed run.
 */
export function existingMeaning(
  containers: readonly SeenContainer[],
  request: JobRequest,
  from: Standpoint,
  removedRun: RemovedRun | null,
): Existing | null {
  const existing = existingRun(containers, request.runId);
  switch (existing.kind) {
    case 'none':
      return ofRemoved(removedRun, request);
    case 'stranger':
      return nameTaken(existing.container);
    case 'older':
      return { kind: isOver(existing.container) ? 'ended' : 'alive', container: existing.container };
    case 'ours':
      if (existing.specSha256 !== request.specSha256) return reused(existing.container, request);
      return ofState(existing.container, from);
    default:
      return existing satisfies never;
  }
}

function ofState(container: SeenContainer, from: Standpoint): Existing {
  switch (container.state) {
    case 'running':
    case 'paused':
    case 'restarting':
      return { kind: 'alive', container };
    case 'exited':
    case 'dead':
      return { kind: 'ended', container };
    case 'removing':
      return { kind: 'removing', container };
    case 'created':
      return { kind: standingOf(container, from), container };
    default:
      return container.state satisfies never;
  }
}

function ofRemoved(run: RemovedRun | null, request: JobRequest): Existing | null {
  if (run === null) return null;
  const same = run.container.labels[LABEL.specSha256] === request.specSha256;
  return same ? { kind: 'has_run', run } : reused({ ...run.container, state: 'exited' }, request);
}

function nameTaken(container: SeenContainer): Refusal {
  return refuse('create_failed', {
    detail: `the name ${container.name} is taken by container ${shortId(container.id)}, which is not this run; rename or remove it`,
    rolledBack: true,
  });
}

function reused(container: SeenContainer, { runId }: JobRequest): Refusal {
  return refuse('run_id_reused', {
    detail: `run_id ${runId} belongs to another request (container ${shortId(container.id)}, ${container.state}); use a new run_id, or DELETE the run once it has ended`,
  });
}

function isOver({ state }: SeenContainer): boolean {
  return state === 'exited' || state === 'dead';
}
