/** `POST /runs/{run_id}/stop`. */

import type { Request, Response } from 'express';
import { z } from 'zod';
import { runAnswer } from '../admit/answer.js';
import { attemptOf } from '../http/attempt.js';
import { principalOf } from '../http/auth.js';
import { fieldErrors } from '../http/field-errors.js';
import { sendJson } from '../http/json.js';
import { sendProblem, type Problem } from '../http/problem.js';
import { strictObject } from '../http/strict-object.js';
import type { Runs, StopDone } from '../model/ports/admissions.js';
import { couldBeARun, notYours, outOfReach, unknownRun } from './answers.js';

export const STOP_BODY_BYTES = 1024;
const GRACE_SECONDS = 10;
const LONGEST_GRACE_SECONDS = 3600;
const GRACE_WORDS = `a whole number of seconds from 0 to ${LONGEST_GRACE_SECONDS}`;

export const stopRequest = strictObject({
  grace_seconds: z
    .int({ error: `expected ${GRACE_WORDS}` })
    .min(0, `expected ${GRACE_WORDS}`)
    .max(LONGEST_GRACE_SECONDS, `expected ${GRACE_WORDS}`)
    .describe(`From the signal to end to the kill; ${GRACE_SECONDS} where it is left out.`)
    .optional(),
});

export async function stop({ runs }: { readonly runs: Runs }, req: Request, res: Response): Promise<void> {
  const runId = String(req.params['run_id']);
  const errors = fieldErrors(stopRequest, req.body);
  if (errors.length > 0) {
    const detail = `${errors[0]?.pointer || 'the body'}: ${errors[0]?.detail ?? ''}`;
    return sendProblem(res, { code: 'invalid_request', detail, errors });
  }
  if (!couldBeARun(runId)) return sendProblem(res, unknownRun(runId));
  const attempt = attemptOf(res);
  attempt.note({ runId });
  attempt.begin();
  const { grace_seconds: grace = GRACE_SECONDS } = stopRequest.parse(req.body);
  const done = await runs.stop(runId, grace, principalOf(res));
  if (done === 'forbidden') return sendProblem(res, notYours(runId, res));
  if (typeof done === 'object' && (done.kind === 'stopping' || done.kind === 'ended')) {
    attempt.settle(done.kind);
    return sendJson(res, done.kind === 'stopping' ? 202 : 200, runAnswer(done.run), { Location: `/runs/${runId}` });
  }
  if (done !== 'left_line' && done !== 'removed') return sendProblem(res, notStopped(runId, done));
  attempt.settle(done);
  if (!res.destroyed) res.writeHead(204).end();
}

type NotStopped = Exclude<StopDone, 'left_line' | 'removed' | 'forbidden' | { readonly kind: 'stopping' | 'ended' }>;

function notStopped(runId: string, done: NotStopped): Problem {
  if (done === 'unknown') return unknownRun(runId);
  if (done === 'out_of_reach') return outOfReach(runId);
  if (done.kind === 'start_pending')
    return { code: 'start_pending', detail: `${runId} cannot be stopped yet: ${done.why}` };
  if (done.kind === 'failed') {
    const { daemonMessage } = done;
    return { code: 'stop_failed', detail: `the runtime failed to stop ${runId}`, daemonMessage };
  }
  return done;
}
