/** Whether the process answers, and whether it could decide an admission now. */

import { Router, type RequestHandler } from 'express';
import { methodNotAllowed } from './errors.js';
import { sendJson } from './json.js';

export interface ReadinessPart {
  readonly ok: boolean;
  /** Why not, or its condition; for a person. */
  readonly detail: string | null;
}

/**
 * Ready when an admission could be decided now: `draining` is ok while the gate is not shutting down, `files` while each
 * access file (tokens, policy) permits anyone to do anything.
 */
export interface Readiness {
  readonly ready: boolean;
  readonly parts: Readonly<Record<'runtime' | 'lock' | 'probe' | 'draining' | 'files', ReadinessPart>>;
}

export function createHealthRoutes(readiness: () => Promise<Readiness>, door: RequestHandler): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router
    .route('/healthz')
    .get(door, (_req, res) => sendJson(res, 200, { ok: true }))
    .all(door, methodNotAllowed('GET', 'HEAD'));
  router
    .route('/readyz')
    .get(door, async (_req, res) => {
      const { ready, parts } = await readiness();
      sendJson(res, ready ? 200 : 503, { ready, parts });
    })
    .all(door, methodNotAllowed('GET', 'HEAD'));
  return router;
}
