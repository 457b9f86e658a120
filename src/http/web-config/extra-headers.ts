/** The headers of the web config, on every response over TCP; they replace the gate's own of the same name. */

import type { RequestHandler } from 'express';
import { isOverUnixSocket } from '../connections/over-unix.js';

export function createExtraHeaders(headers: () => ReadonlyMap<string, string>): RequestHandler {
  return (req, res, next) => {
    if (!isOverUnixSocket(req)) res.setHeaders(new Map(headers()));
    next();
  };
}
