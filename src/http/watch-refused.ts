/** Counts and audits refused callers that no other code records: reads, unknown paths, dry runs. */

import type { Request, RequestHandler, Response } from 'express';
import { REFUSED_CODES, type RefusedCode } from '../model/admission.js';
import type { Audit, AuditEntry } from '../model/ports/audit.js';
import type { Clock } from '../model/ports/outside.js';
import { attempted } from './attempt.js';
import { knownPrincipal } from './auth.js';
import { onProblem } from './problem.js';

export interface WatchRefusedParts {
  readonly audit: Audit;
  readonly clock: Clock;
  /** Called for each, dry runs and reads included. */
  readonly count: (code: RefusedCode) => void;
}

/** The first handler. Calls that change something have an audit line already, and are only counted here. */
export function watchRefused({ audit, clock, count }: WatchRefusedParts): RequestHandler {
  return (req, res, next) => {
    const began = clock.monotonic();
    onProblem(res, ({ code, detail }) => {
      const refused = REFUSED_CODES.find((known) => known === code);
      if (refused === undefined) return;
      count(refused);
      if (!attempted(res)) audit.write(entryOf(req, res, refused, detail, clock, clock.monotonic() - began));
    });
    next();
  };
}

const MOST_OF_A_PATH = 100;

function entryOf(
  req: Request,
  res: Response,
  outcome: RefusedCode,
  detail: string,
  clock: Pick<Clock, 'now'>,
  tookMs: number,
): AuditEntry {
  const path = req.path.length > MOST_OF_A_PATH ? `${req.path.slice(0, MOST_OF_A_PATH)}…` : req.path;
  return {
    at: new Date(clock.now()).toISOString(),
    // A POST to /admit without an attempt is a dry run.
    action: req.method === 'POST' && req.path === '/admit' ? 'dry_run' : 'call',
    principal: knownPrincipal(res)?.name ?? '?',
    remote: req.socket.remoteAddress ?? null,
    runId: null,
    outcome,
    detail: `${req.method} ${path}: ${detail}`,
    count: null,
    image: null,
    cards: [],
    containerId: null,
    tookMs: Math.round(tookMs),
  };
}
