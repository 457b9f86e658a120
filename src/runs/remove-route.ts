/** `DELETE /runs/{run_id}`. */

import type { Request, Response } from 'express';
import { attemptOf } from '../http/attempt.js';
import { principalOf } from '../http/auth.js';
import { sendProblem, type Problem } from '../http/problem.js';
import type { Runs } from '../model/ports/admissions.js';
import { couldBeARun, notYours, outOfReach, unknownRun } from './answers.js';

export async function remove({ runs }: { readonly runs: Runs }, req: Request, res: Response): Promise<void> {
  const runId = String(req.params['run_id']);
  const { lost, waiting } = req.query;
  for (const [name, said] of Object.entries({ lost, waiting })) {
    if (said !== undefined && said !== 'true') return sendProblem(res, notTrue(name, said));
  }
  if (!couldBeARun(runId)) return sendProblem(res, unknownRun(runId));
  const attempt = attemptOf(res);
  attempt.note({ runId });
  attempt.begin();
  const by = principalOf(res);
  const done =
    lost === 'true'
      ? await runs.giveUp(runId)
      : await (waiting === 'true' ? runs.removeWaiting(runId, by) : runs.remove(runId, by));
  if (done === 'forbidden') return sendProblem(res, notYours(runId, res));
  if (done !== 'removed' && done !== 'given_up') return sendProblem(res, notRemoved(runId, done));
  attempt.settle(done);
  if (!res.destroyed) res.writeHead(204).end();
}

function notTrue(name: string, came: unknown): Problem {
  const detail = `expected true, or no ${name} at all; got ${JSON.stringify(came).slice(0, 60)}`;
  return { code: 'invalid_request', detail: `?${name}: ${detail}`, errors: [{ pointer: `?${name}`, detail }] };
}

type Kept = Exclude<
  Awaited<ReturnType<Runs['remove' | 'removeWaiting' | 'giveUp']>>,
  'removed' | 'given_up' | 'forbidden'
>;

function notRemoved(runId: string, kept: Kept): Problem {
  if (kept === 'unknown') return unknownRun(runId);
  if (kept === 'alive') {
    const call = `gpu-gate stop ${runId}, or POST /runs/${runId}/stop`;
    return { code: 'run_alive', detail: `${runId} is alive; stop it first (${call}), and then delete it` };
  }
  if (kept === 'ended') return { code: 'run_ended', detail: `${runId} does not wait: it has run, and ended` };
  if (kept === 'out_of_reach') return outOfReach(runId);
  if (kept.kind === 'in_reach')
    return { code: 'run_alive', detail: `only a lost run can be removed like this: ${kept.why}` };
  return kept;
}
