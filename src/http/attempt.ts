/** One call that changes something, from its first byte to its outcome: counted once, and one line in the audit. */

import type { RequestHandler, Response } from 'express';
import type { Audit, AuditEntry, ChangingAction } from '../model/ports/audit.js';
import type { Clock } from '../model/ports/outside.js';
import { knownPrincipal } from './auth.js';
import { onProblem } from './problem.js';

/** What becomes known of a call along the way. */
export type Facts = Partial<Pick<AuditEntry, 'runId' | 'count' | 'image' | 'cards' | 'containerId' | 'detail'>>;

export interface Attempt {
  note(facts: Facts): void;
  /** From here on the outcome is the work's own, even when the caller hangs up. */
  begin(): void;
  /** The first call says how it ended; later ones are passed over. */
  settle(outcome: string, facts?: Facts): void;
}

export interface AttemptParts {
  readonly action: ChangingAction;
  readonly audit: Audit;
  readonly clock: Clock;
  /** Told how it ended and after how many seconds. */
  readonly count?: (outcome: string, seconds: number) => void;
}

/** Outcome of a call whose caller hung up, or was cut off, before anything was begun. */
export const CLIENT_GONE = 'client_gone';

/** Stands before the door of a route, so that those who are turned away are counted too. */
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

/** Whether this response belongs to a call that is watched, and so has its own line. */
export function attempted(res: Response): boolean {
  return res.locals['attempt'] !== undefined;
}

/** The attempt of this response. Throws where the route is not watched, which is a fault of ours. */
export function attemptOf(res: Response): Attempt {
  const attempt = res.locals['attempt'] as Attempt | undefined;
  if (attempt === undefined) throw new Error('a route that changes something is not watched');
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
    // Nobody's name: no token can be called so.
    principal: knownPrincipal(res)?.name ?? '?',
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
