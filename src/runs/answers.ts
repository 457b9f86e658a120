/** Problems that several routes of a run answer with. */

import type { Response } from 'express';
import { admitRequest } from '../admit/request-schema.js';
import { principalOf } from '../http/auth.js';
import type { Problem } from '../http/problem.js';
import type { Probed } from '../model/snapshot.js';

/** An invalid run_id belongs to no run, so the runtime is not asked. */
export function couldBeARun(runId: string): boolean {
  return admitRequest.shape.run_id.safeParse(runId).success;
}

export function unknownRun(runId: string): Problem {
  return { code: 'not_found', detail: `there is no run ${JSON.stringify(runId.slice(0, 80))} on this machine` };
}

export function unavailable(blind: Probed<unknown> & { readonly kind: 'blind' }): Problem {
  return { code: 'docker_unavailable', detail: `the containers could not be listed: ${blind.detail}` };
}

export function notYours(runId: string, res: Response): Problem {
  const detail = `${runId} is not a run of ${principalOf(res).name}; an operator (role operate) may do this to any run`;
  return { code: 'forbidden', detail };
}

export function outOfReach(runId: string): Problem {
  const call = `gpu-gate remove --lost ${runId}, or DELETE /runs/${runId}?lost=true`;
  return {
    code: 'run_alive',
    detail: `${runId} was started in another pid namespace, and whether it lives cannot be told from here. If nothing of it runs any more, an operator frees its cards with: ${call}`,
  };
}
