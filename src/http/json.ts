/** JSON in and out: what a body must be, and how an answer is written. */

import { Readable } from 'node:stream';
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { plainJson } from '../text/plain.js';
import { sendProblem } from './problem.js';

/** Answers with JSON and a newline, so that a shell prompt starts on its own line. */
export function sendJson(res: Response, status: number, body: unknown, headers: Record<string, string> = {}): void {
  if (res.headersSent || res.destroyed) return;
  // Not with writeHead, after which Node no longer knows the length and sends chunks.
  res.statusCode = status;
  res.setHeaders(new Map(Object.entries({ 'Content-Type': 'application/json', ...headers })));
  res.end(`${plainJson(body)}\n`);
}

/**
 * Reads a JSON body of at most `limitBytes` into `req.body`. The content type is required: a web page in a browser cannot
 * send it to another site without a preflight request. Compressed bodies are refused: the limit would apply to the wrong
 * size.
 */
export function readJson(limitBytes: number): RequestHandler[] {
  const parse = express.json({ limit: limitBytes, inflate: false, type: () => true });
  loadWhatItNeeds(parse);
  return [requireJson, parse];
}

/** The parser loads a module with its first body; by then there may be no descriptor left to read a file. */
function loadWhatItNeeds(parse: RequestHandler): void {
  const headers = { 'content-type': 'application/json', 'content-length': '2' };
  const body = Object.assign(Readable.from([Buffer.from('{}')]), { headers });
  void parse(body as unknown as Request, {} as Response, () => undefined);
}

function requireJson(req: Request, res: Response, next: NextFunction): void {
  const type = req.headers['content-type'];
  if (type !== undefined && /^application\/json[ \t]*(?:;|$)/i.test(type)) return next();
  const came = type === undefined ? 'none' : `"${type.slice(0, 80)}"`;
  const detail = `expected the header Content-Type: application/json; got ${came}`;
  return sendProblem(res, { code: 'unsupported_media_type', detail });
}

/** Refuses query parameters other than those listed: a misspelt one must not be ignored. */
export function onlyQuery(...known: readonly string[]): RequestHandler {
  return (req, res, next) => {
    const unknown = Object.keys(req.query).filter((key) => !known.includes(key));
    if (unknown.length === 0) return next();
    const named = unknown.map((key) => `"${key.slice(0, 40)}"`).join(', ');
    const expected = known.length === 0 ? 'none' : known.join(', ');
    const detail = `unknown query parameter ${named}; known here: ${expected}`;
    return sendProblem(res, { code: 'invalid_request', detail });
  };
}
