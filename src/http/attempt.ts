/** One call that changes something, from arrival to outcome: counted once, with one line in the audit. */

import type { RequestHandler, Response } from 'express';
import type { Audit, AuditEntry, ChangingAction } from '../model/ports/audit.js';
import type { Clock } from '../model/ports/outside.js';
import { knownPrincipal } from './auth.js';
import { onProblem } from './problem.js';

/** Facts about a call that become known while it is handled. */
export type Facts = Partial<Pick<AuditEntry, 'runId' | 'count' | 'image' | 'cards' | 'containerId' | 'detail'>>;

export interface Attempt {
  note(facts: Facts): void;
  /** From now on the work determines the outcome, even if the caller hangs up. */
  begin(): void;
  /** The first call records the outcome; later ones are ignored. */
  settle(outcome: string, facts?: Facts): void;
}

export interface AttemptParts {
  readonly action: ChangingAction;
  readonly audit: Audit;
  readonly clock: Clock;
  /** Called with the outcome and the duration in seconds. */
  readonly count?: (outcome: string, seconds: number) => void;
}

/** Outcome of a call whose caller hung up, or was disconnected, before any work began. */
export const CLIENT_GONE = 'client_gone';

/** Goes before a route's authentication, so that refused callers are counted too. */
export function recordAttempt(parts: AttemptParts): RequestHandler {
  return (req, res, next) => {
    const began = parts.clock.monotonic();
    const remote = req.socket.remoteAddress ?? null;
    let facts: Facts = {};
    let begun = false;
    let settled = false;

    const attempt: Attempt = {
      note: (more) => (facts = { ...facts, ...more }),
      begin: () => (begun = true),
      settle(outcome, more = {}) {
        if (settled) return;
        settled = true;
        facts = { ...facts, ...more };
        const tookMs = Math.max(0, parts.clock.monotonic() - began);
        parts.count?.(outcome, tookMs / 1000);
        parts.audit.write(entryOf(parts, res, remote, outcome, facts, tookMs));
      },
    };
    res.locals['attempt'] = attempt;
    onProblem(res, ({ code, detail }) => attempt.settle(code, { detail }));
    res.once('close', () => {
      if (!begun) attempt.settle(CLIENT_GONE);
    });
    next();
  };
}

/** Whether this response belongs to a recorded call, which has its own line in the audit. */
export function attempted(res: Response): boolean {
  return res.locals['attempt'] !== undefined;
}

/** The attempt of this response. Throws where the route does not record attempts, which is a bug. */
export function attemptOf(res: Response): Attempt {
  const attempt = res.locals['attempt'] as Attempt | undefined;
  if (attempt === undefined) throw new Error('a route that changes something does not record attempts');
  return attempt;
}

function entryOf(
  parts: AttemptParts,
  res: Response,
  remote: string | null,
  outcome: string,
  facts: Facts,
  tookMs: number,
): AuditEntry {
  return {
    at: new Date(parts.clock.now()).toISOString(),
    action: parts.action,
    // Cannot collide with a caller's name: no token may have this one.
    principal: knownPrincipal(res)?.name ?? '?',
    ...(knownPrincipal(res)?.delegate === undefined ? {} : { delegate: knownPrincipal(res)?.delegate ?? '' }),
    remote,
    runId: facts.runId ?? null,
    outcome,
    detail: facts.detail ?? null,
    count: facts.count ?? null,
    image: facts.image ?? null,
    cards: facts.cards ?? [],
    containerId: facts.containerId ?? null,
    tookMs: Math.round(tookMs),
  };
}
