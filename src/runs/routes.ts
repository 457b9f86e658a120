/** `/runs`: the jobs on this machine, what they print, and the end and the removal of one's own. */

import { Router, type Request, type RequestHandler, type Response } from 'express';
import { runAnswer } from '../admit/answer.js';
import { recordAttempt } from '../http/attempt.js';
import type { Door } from '../http/auth.js';
import { methodNotAllowed } from '../http/errors.js';
import { onlyQuery, readJson, sendJson } from '../http/json.js';
import { sendProblem } from '../http/problem.js';
import type { Runs } from '../model/ports/admissions.js';
import type { Audit } from '../model/ports/audit.js';
import type { Clock } from '../model/ports/outside.js';
import { couldBeARun, unavailable, unknownRun } from './answers.js';
import { showOutput } from './output-route.js';
import { readFilter } from './query.js';
import { remove } from './remove-route.js';
import { STOP_BODY_BYTES, stop } from './stop-route.js';

export interface RunRouteParts {
  readonly door: Door;
  readonly runs: Runs;
  readonly audit: Audit;
  readonly clock: Clock;
  /** Aborts when the gate shuts down: outputs that are followed end then. */
  readonly ending?: AbortSignal;
}

export function createRunRoutes(parts: RunRouteParts): Router {
  const { door, audit, clock } = parts;
  const router = Router({ caseSensitive: true, strict: true });
  router
    .route('/runs')
    .get(door.for('read'), onlyQuery('state', 'principal', 'limit'), (req, res) => list(parts, req, res))
    .all(door.for(null), methodNotAllowed('GET', 'HEAD'));
  router
    .route('/runs/:run_id')
    .get(door.for('read'), (req, res) => show(parts, req, res))
    .delete(
      recordAttempt({ action: 'delete', audit, clock }),
      doorOfRemoval(door),
      onlyQuery('lost', 'waiting'),
      (req, res) => remove(parts, req, res),
    )
    .all(door.for(null), methodNotAllowed('GET', 'HEAD', 'DELETE'));
  router
    .route('/runs/:run_id/stop')
    .post(
      recordAttempt({ action: 'stop', audit, clock }),
      door.forAny('admit', 'operate'),
      onlyQuery(),
      ...readJson(STOP_BODY_BYTES),
      (req, res) => stop(parts, req, res),
    )
    .all(door.for(null), methodNotAllowed('POST'));
  router
    .route('/runs/:run_id/logs')
    // Whose it is decides, and no role but that of an operator.
    .get(door.for(null), onlyQuery('follow', 'tail', 'stderr'), (req, res) => showOutput(parts, req, res))
    .all(door.for(null), methodNotAllowed('GET', 'HEAD'));
  return router;
}

/** Removing a run that may be alive takes an operator; removing one that has ended is housekeeping. */
function doorOfRemoval(door: Door): RequestHandler {
  const doors = { release: door.forAny('release', 'operate'), operate: door.for('operate') };
  return (req, res, next) => doors[req.query['lost'] === undefined ? 'release' : 'operate'](req, res, next);
}

async function list({ runs }: RunRouteParts, req: Request, res: Response): Promise<void> {
  const filter = readFilter(req.query);
  if ('code' in filter) return sendProblem(res, filter);
  const seen = await runs.list(filter);
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
