/** `/runs`: the jobs on this machine, and the removal of those that have ended. */

import { Router, type Request, type Response } from 'express';
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
    .delete(recordAttempt({ action: 'delete', audit, clock }), door.for('release'), onlyQuery(), (req, res) =>
      remove(parts, req, res),
    )
    .all(door.for(null), methodNotAllowed('GET', 'HEAD', 'DELETE'));
  return router;
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
  if (!couldBeARun(runId)) return sendProblem(res, unknownRun(runId));
  const attempt = attemptOf(res);
  attempt.note({ runId });
  attempt.begin();
  const done = await runs.remove(runId);
  switch (done) {
    case 'removed':
      attempt.settle('removed');
      if (!res.destroyed) res.writeHead(204).end();
      return;
    case 'alive':
      return sendProblem(res, {
        code: 'run_alive',
        detail: `${runId} is alive; stop its container first, and then delete it`,
      });
    case 'unknown':
      return sendProblem(res, unknownRun(runId));
    default:
      return sendProblem(res, done);
  }
}

/** What could not be a run_id is no run, and nobody needs to be asked. */
function couldBeARun(runId: string): boolean {
  return admitRequest.shape.run_id.safeParse(runId).success;
}

function unknownRun(runId: string): Problem {
  return { code: 'not_found', detail: `there is no run ${JSON.stringify(runId.slice(0, 80))} on this machine` };
}

function unavailable(blind: Probed<unknown> & { readonly kind: 'blind' }): Problem {
  return { code: 'docker_unavailable', detail: `the containers could not be listed: ${blind.detail}` };
}
