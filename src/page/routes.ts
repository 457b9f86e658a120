/** `GET /`, its files, and `GET /status.json`, which it shows. */

import { Router, type RequestHandler, type Response } from 'express';
import type { z } from 'zod';
import type { Door } from '../http/auth.js';
import { methodNotAllowed } from '../http/errors.js';
import { sendJson } from '../http/json.js';
import type { PageFile, PageFiles } from './page-files.js';
import type { statusShape } from './status-shape.js';

export interface PageRouteParts {
  readonly door: Door;
  readonly files: PageFiles;
  readonly status: () => Promise<z.infer<typeof statusShape>>;
}

/**
 * Nothing inline, nothing from other origins, no form that a browser would submit by itself, and no text that becomes
 * markup: what an attacker puts into a run_id or a process name stays text, even if a line of the script is wrong.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/**
 * The page's own files are public, even with a tokens file: they are the same on every machine and contain no data, and a
 * browser that opens an address cannot send a token with it. Their data comes from `/status.json`, which requires the role
 * read; the page asks its reader for the token. Without tokens the `Host` must be valid here as well.
 */
export function createPageRoutes({ door, files, status }: PageRouteParts): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const open = (path: string, find: (name: string) => PageFile | null | undefined): void => {
    const get: RequestHandler = (req, res, next) => {
      const file = find(String(req.params['file']));
      if (file) sendFile(res, file);
      else next('router');
    };
    router.route(path).get(door.everybody, get).all(door.for(null), methodNotAllowed('GET', 'HEAD'));
  };
  open('/', () => files.html);
  open('/page/:file', (name) => files.parts.get(name));
  open('/README.md', () => files.readme);
  router
    .route('/status.json')
    .get(door.for('read'), async (_req, res) => sendJson(res, 200, await status()))
    .all(door.for(null), methodNotAllowed('GET', 'HEAD'));
  return router;
}

function sendFile(res: Response, { type, text }: PageFile): void {
  res.setHeader('Content-Security-Policy', POLICY);
  res.setHeader('Content-Type', `${type}; charset=utf-8`);
  res.setHeader('Content-Length', Buffer.byteLength(text));
  res.end(text);
}
