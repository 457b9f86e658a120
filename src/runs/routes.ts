/** `/runs`: the jobs on this machine, and the removal of those that have ended. */

import { Router, type Request, type RequestHandler, type Response } from 'express';
import { runAnswer } from '../admit/answer.js';
import { admitRequest } from '../admit/request-schema.js';
import { attemptOf, recordAttempt } from '../http/attempt.js';
import type { Door } from '../http/auth.js';
import { methodNotAllowed } from '../http/errors.js';
import { onlyQuery, sendJson } from '../http/json.js';
import { sendProblem, type Problem } from '../http/problem.js';
import type { Runs } from '../model/ports/admissions.js';
import type { Audit } from '../model/ports/audit.js';
import type { Clock } from '../model/ports/outside.js';
import type { Probed } from '../model/snapshot.js';

export interface RunRouteParts {
  readonly door: Door;
  readonly runs: Runs;
  readonly audit: Audit;
  readonly clock: Clock;
}

export function createRunRoutes(parts: RunRouteParts): Router {
  const { door, audit, clock } = parts;
  const router = Router({ caseSensitive: true, strict: true });
  router
    .route('/runs')
    .get(door.for('read'), (_req, res) => list(parts, res))
    .all(door.for(null), methodNotAllowed('GET', 'HEAD'));
  router
    .route('/runs/:run_id')
    .get(door.for('read'), (req, res) => show(parts, req, res))
    .delete(recordAttempt({ action: 'delete', audit, clock }), doorOfRemoval(door), onlyQuery('lost'), (req, res) =>
      remove(parts, req, res),
    )
    .all(door.for(null), methodNotAllowed('GET', 'HEAD', 'DELETE'));
  return router;
}

/** Removing a run that may be alive takes an operator; removing one that has ended is housekeeping. */
function doorOfRemoval(door: Door): RequestHandler {
  const doors = { release: door.for('release'), operate: door.for('operate') };
  return (req, res, next) => doors[req.query['lost'] === undefined ? 'release' : 'operate'](req, res, next);
}

async function list({ runs }: RunRouteParts, res: Response): Promise<void> {
  const seen = await runs.list();
  if (seen.kind === 'blind') return sendProblem(res, unavailable(seen));
  sendJson(res, 200, { runs: seen.value.map(runAnswer) });
}

async function show({ runs }: RunRouteParts, req: Request, res: Response): Promise<void> {
  const runId = String(req.params['run_id']);
  if (!couldBeARun(runId)) return sendProblem(res, unknownRun(runId));
  const seen = await runs.get(runId);
  if (seen.kind === 'blind') return sendProblem(res, unavailable(seen));
  if (seen.value === null) return sendProblem(res, unknownRun(runId));
  sendJson(res, 200, runAnswer(seen.value));
}

async function remove({ runs }: RunRouteParts, req: Request, res: Response): Promise<void> {
  const runId = String(req.params['run_id']);
  const { lost } = req.query;
  if (lost !== undefined && lost !== 'true') return sendProblem(res, badLost(lost));
  if (!couldBeARun(runId)) return sendProblem(res, unknownRun(runId));
  const attempt = attemptOf(res);
  attempt.note({ runId });
  attempt.begin();
  const done = lost === 'true' ? await runs.giveUp(runId) : await runs.remove(runId);
  if (done !== 'removed' && done !== 'given_up') return sendProblem(res, notRemoved(runId, done));
  attempt.settle(done);
  if (!res.destroyed) res.writeHead(204).end();
}

function badLost(came: unknown): Problem {
  const detail = `expected true, or no lost at all; got ${JSON.stringify(came).slice(0, 60)}`;
  return { code: 'invalid_request', detail: `?lost: ${detail}`, errors: [{ pointer: '?lost', detail }] };
}

type Kept = Exclude<Awaited<ReturnType<Runs['remove'] | Runs['giveUp']>>, 'removed' | 'given_up'>;

function notRemoved(runId: string, kept: Kept): Problem {
  if (kept === 'unknown') return unknownRun(runId);
  if (kept === 'alive') return { code: 'run_alive', detail: `${runId} is alive; stop it first, and then delete it` };
  if (kept === 'out_of_reach') {
    const call = `gpu-gate remove --lost ${runId}, or DELETE /runs/${runId}?lost=true`;
    return {
      code: 'run_alive',
      detail: `${runId} was started in another pid namespace, and whether it lives cannot be told from here. If nothing of it runs any more, an operator frees its cards with: ${call}`,
    };
  }
  if (kept.kind === 'in_reach')
    return { code: 'run_alive', detail: `only a lost run can be removed like this: ${kept.why}` };
  return kept;
}

/** An invalid run_id belongs to no run, so the runtime is not asked. */
function couldBeARun(runId: string): boolean {
  return admitRequest.shape.run_id.safeParse(runId).success;
}

function unknownRun(runId: string): Problem {
  return { code: 'not_found', detail: `there is no run ${JSON.stringify(runId.slice(0, 80))} on this machine` };
}

function unavailable(blind: Probed<unknown> & { readonly kind: 'blind' }): Problem {
  return { code: 'docker_unavailable', detail: `the containers could not be listed: ${blind.detail}` };
}
