/** What a container of this run means for a request: one row each of the table in src/README.md. Pure. */

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
        /** On its way out: wait until it is gone. */
        | 'removing'
        /** Created, and this process is at it. */
        | 'under_way'
        /** Created, and whoever created it will never start it: remove it and decide anew. */
        | 'left_behind'
        /** Created by another gate, which alone may start it. */
        | 'of_another_gate';
      readonly container: SeenContainer;
    }
  /** Its container is gone, and it has run. */
  | { readonly kind: 'has_run'; readonly run: RemovedRun }
  | Refusal;

/** Null where nothing of this run is there: decide. `containers` are all of this run, copies left out; `removedRun` is what is remembered of it. */
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
