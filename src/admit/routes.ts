/** `POST /admit`: from authentication to the decision, in the order in which requests are refused. */

import { Router, type Request, type Response } from 'express';
import { attemptOf, CLIENT_GONE, recordAttempt } from '../http/attempt.js';
import { principalOf, type Door } from '../http/auth.js';
import { methodNotAllowed } from '../http/errors.js';
import { onlyQuery, readJson, sendJson } from '../http/json.js';
import { sendProblem } from '../http/problem.js';
import {
  OUTCOMES,
  type Decision,
  type GrantedCard,
  type JobSpec,
  type Outcome,
  type Refusal,
} from '../model/admission.js';
import type { Admissions, Policy } from '../model/ports/admissions.js';
import type { Audit } from '../model/ports/audit.js';
import type { Meter } from '../model/ports/meter.js';
import type { Clock } from '../model/ports/outside.js';
import type { RuntimeKind } from '../model/runtime-kind.js';
import { answer } from './answer.js';
import { holdMsOf } from './prefer.js';
import { BODY_LIMIT_BYTES } from './request-schema.js';
import { malformed, parseRequest } from './request.js';

export interface AdmitRouteParts {
  readonly door: Door;
  readonly admissions: Admissions;
  readonly policy: Policy;
  readonly meter: Pick<Meter, 'outcome'>;
  readonly audit: Audit;
  readonly clock: Clock;
  /** The runtime that starts the jobs; Docker by default. */
  readonly runtime?: RuntimeKind;
}

export function createAdmitRoutes(parts: AdmitRouteParts): Router {
  const { door, meter, audit, clock } = parts;
  const count = (outcome: string, seconds: number): void => {
    if (isOutcome(outcome)) meter.outcome(outcome, seconds);
  };
  const record = recordAttempt({ action: 'admit', audit, clock, count });
  const router = Router({ caseSensitive: true, strict: true });
  router
    .route('/admit')
    // Dry runs decide nothing: they are neither counted nor audited.
    .post((req, res, next) => (isDryRun(req) ? next() : record(req, res, next)))
    .post(door.for('admit'), onlyQuery('dry_run'), ...readJson(BODY_LIMIT_BYTES), (req, res) => admit(parts, req, res))
    .all(door.for(null), methodNotAllowed('POST'));
  return router;
}

async function admit(parts: AdmitRouteParts, req: Request, res: Response): Promise<void> {
  const dryRun = isDryRun(req);
  const said = req.query['dry_run'];
  if (said !== undefined && !dryRun) {
    const detail = `expected true, or no dry_run at all; got ${JSON.stringify(said)?.slice(0, 60)}`;
    return sendProblem(res, malformed([{ pointer: '?dry_run', detail }]));
  }
  const request = parseRequest(req.body, parts.runtime);
  if (isRefusal(request)) return sendProblem(res, request);
  if (!dryRun) {
    attemptOf(res).note({ runId: request.runId, count: request.count, image: request.container.image || null });
  }
  const spec = await parts.policy(request);
  if (isRefusal(spec)) return sendProblem(res, spec);
  const holdMs = dryRun || !parts.admissions.canHold() ? 0 : holdMsOf(req.get('prefer'));
  if (holdMs > 0) res.set('Preference-Applied', `wait=${holdMs / 1000}`);
  const decision = dryRun ? await parts.admissions.dryRun(spec) : await decide(parts, spec, res, holdMs);
  reply(res, decision, spec.runId);
}

async function decide(parts: AdmitRouteParts, spec: JobSpec, res: Response, holdMs: number): Promise<Decision> {
  const attempt = attemptOf(res);
  attempt.begin();
  const decision = await parts.admissions.admit(spec, principalOf(res), whenGone(res), holdMs);
  // Recorded here and not when the answer has been sent: the decision counts even if the caller is gone.
  attempt.settle(outcomeOf(decision), factsOf(decision));
  return decision;
}

/**
 * Aborts when the caller hangs up before the answer is written. The request's own `close` event comes too early: once its
 * body is read.
 */
function whenGone(res: Response): AbortSignal {
  const gone = new AbortController();
  const look = (): void => {
    if (!res.writableFinished) gone.abort();
  };
  if (res.closed || res.destroyed) look();
  else res.once('close', look);
  return gone.signal;
}

function reply(res: Response, decision: Decision, runId: string): void {
  if (decision.kind === 'refused') return sendProblem(res, decision);
  const said = answer(decision, runId);
  if (said === null) res.destroy();
  else sendJson(res, said.status, said.body, said.headers);
}

function outcomeOf(decision: Decision): Outcome {
  switch (decision.kind) {
    case 'admitted':
      return decision.replayed ? 'replayed' : 'admitted';
    case 'starting':
    case 'ended':
    case 'wait':
      return decision.kind;
    case 'refused':
      return decision.code;
    case 'client_gone':
      return CLIENT_GONE;
    case 'would_admit':
    case 'would_wait':
    case 'would_replay':
      throw new Error(`an admission that was not a dry run ended in ${decision.kind}`);
    default:
      return decision satisfies never;
  }
}

function factsOf(decision: Decision): { detail?: string; cards?: string[]; containerId?: string } {
  if (decision.kind === 'refused') {
    const { detail, daemonMessage } = decision;
    return { detail: daemonMessage === undefined ? detail : `${detail}: ${daemonMessage}` };
  }
  if (decision.kind === 'wait') return { detail: decision.explain };
  if (!('run' in decision)) return {};
  const { cards, run, placement } = decision;
  const why = placement === null || cards.length === 0 ? {} : { detail: placement.reasons.join(', ') };
  return { ...why, cards: cards.map(nameOf), containerId: run.containerId };
}

/** The uuid, or where none is known the index as text. */
function nameOf({ uuid, index }: GrantedCard): string {
  return uuid ?? String(index ?? '?');
}

function isDryRun(req: Request): boolean {
  return req.query['dry_run'] === 'true';
}

function isRefusal(value: object): value is Refusal {
  return 'kind' in value;
}

function isOutcome(outcome: string): outcome is Outcome {
  return (OUTCOMES as readonly string[]).includes(outcome);
}
