/** The gate's error answers: `application/problem+json`, RFC 9457. */

import type { Response } from 'express';
import type { FieldError, RefusalCode } from '../model/admission.js';
import { plainJson } from '../text/plain.js';

/** Codes that no admission returns: they concern a path, a method, a connection, a run or a card. */
export type FaceCode =
  | 'not_found'
  | 'method_not_allowed'
  | 'run_alive'
  | 'run_ended'
  | 'card_present'
  | 'start_pending'
  | 'stop_failed'
  | 'request_timeout'
  | 'headers_too_large';

export type ProblemCode = RefusalCode | FaceCode;

/**
 * Every problem, with status and title: the refusals of `/admit`, as README.md lists them, and the errors of the other
 * routes.
 */
export const PROBLEMS: Readonly<Record<ProblemCode, { readonly status: number; readonly title: string }>> = {
  invalid_request: { status: 400, title: 'The request is invalid' },
  unauthenticated: { status: 401, title: 'The request has no valid token' },
  forbidden: { status: 403, title: 'The caller may not do this' },
  policy_denied: { status: 403, title: 'The policy of this machine does not allow this' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'The path does not support the method' },
  request_timeout: { status: 408, title: 'The request did not arrive in time' },
  run_alive: { status: 409, title: 'The run is alive' },
  run_ended: { status: 409, title: 'The run has ended' },
  start_pending: { status: 409, title: 'The start of the run is pending' },
  card_present: { status: 409, title: 'The card is in the machine' },
  too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The body must be JSON' },
  run_id_reused: { status: 422, title: 'This run_id belongs to another request' },
  unsatisfiable: { status: 422, title: 'This machine can never satisfy the request' },
  image_not_found: { status: 422, title: 'There is no such image' },
  container_refused: { status: 422, title: 'The runtime refuses this container' },
  headers_too_large: { status: 431, title: 'The headers are too large' },
  internal: { status: 500, title: 'Internal error of the gate' },
  image_pull_failed: { status: 502, title: 'The image could not be pulled' },
  create_failed: { status: 502, title: 'The runtime failed to create the container' },
  stop_failed: { status: 502, title: 'The runtime failed to stop the container' },
  start_failed: { status: 502, title: 'The runtime failed to start the container' },
  docker_unavailable: { status: 503, title: 'The runtime does not answer' },
  lock_unavailable: { status: 503, title: 'The lock is not available' },
  draining: { status: 503, title: 'The gate is shutting down' },
  busy: { status: 503, title: 'Too many requests are waiting' },
  stopped: { status: 409, title: 'The run was stopped before it started' },
};

/** The `Retry-After` of a 503 that names no time of its own. */
const RETRY_AFTER_SECONDS = 5;

/** One problem, with everything known about it. A `Refusal` is one; the routes make the others. */
export interface Problem {
  readonly code: ProblemCode;
  /** What failed, what came and what was expected, for a person. */
  readonly detail: string;
  readonly errors?: readonly FieldError[];
  /** Docker's own words. */
  readonly daemonMessage?: string;
  readonly rolledBack?: boolean;
  readonly retryAfterSeconds?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ProblemAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Status, headers and body of a problem. `retryable` is true for 502 and 503, where the same request may succeed later. */
export function describeProblem(problem: Problem): ProblemAnswer {
  const { status, title } = PROBLEMS[problem.code];
  const retryAfter = problem.retryAfterSeconds ?? (status === 503 ? RETRY_AFTER_SECONDS : null);
  const seconds = retryAfter === null ? null : Math.max(1, Math.ceil(retryAfter));
  return {
    status,
    headers: {
      'Content-Type': 'application/problem+json',
      ...(seconds === null ? {} : { 'Retry-After': String(seconds) }),
      ...problem.headers,
    },
    body: {
      type: `urn:tuneplane:problem:${problem.code}`,
      title,
      status,
      code: problem.code,
      detail: problem.detail,
      retryable: status === 502 || status === 503,
      ...(problem.errors === undefined ? {} : { errors: problem.errors }),
      ...(problem.daemonMessage === undefined ? {} : { daemon_message: problem.daemonMessage }),
      ...(problem.rolledBack === undefined ? {} : { rolled_back: problem.rolledBack }),
      ...(seconds === null ? {} : { retry_after_seconds: seconds }),
    },
  };
}

/** Answers with a problem, after calling the listeners. If the caller is gone, only the listeners are called. */
export function sendProblem(res: Response, problem: Problem): void {
  for (const listener of listeners(res)) listener(problem);
  if (res.headersSent || res.destroyed) return;
  const { status, headers, body } = describeProblem(problem);
  res.statusCode = status;
  res.setHeaders(new Map(Object.entries(headers)));
  res.end(`${plainJson(body)}\n`);
}

/** Calls `listener` right before a problem is sent on this response: for metrics and the audit. */
export function onProblem(res: Response, listener: (problem: Problem) => void): void {
  res.locals['onProblem'] = [...listeners(res), listener];
}

function listeners(res: Response): readonly ((problem: Problem) => void)[] {
  return (res.locals['onProblem'] as readonly ((problem: Problem) => void)[] | undefined) ?? [];
}
