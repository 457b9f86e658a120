/** Callers who are turned away where nothing else would tell: reading, asking for what is not there, trying out a request. */

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
  /** Told of each, dry runs and reads included. */
  readonly count: (code: RefusedCode) => void;
}

/** Stands before everything else. What changes something has its line in the audit already, and is only counted here. */
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
    // What posts to /admit and is no attempt is a dry run.
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
