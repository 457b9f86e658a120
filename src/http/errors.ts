/** Answers where no route did: unknown paths, wrong methods, unreadable bodies, and bugs of ours. */

import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import type { Log } from '../model/ports/outside.js';
import { sendProblem, type Problem } from './problem.js';

/** For a path that exists, with a method that it does not support. */
export function methodNotAllowed(...methods: readonly string[]): RequestHandler {
  const allow = methods.join(', ');
  return (req, res) => {
    const detail = `${req.method} is not supported at ${shortPath(req)}; expected ${allow}`;
    sendProblem(res, { code: 'method_not_allowed', detail, headers: { Allow: allow } });
  };
}

/** For every path that no route handles. */
export function notFound(req: Request, res: Response): void {
  sendProblem(res, {
    code: 'not_found',
    detail: `there is nothing at ${shortPath(req)}; /openapi.json lists the paths`,
  });
}

/**
 * The last handler: reports errors of the body parser in our own words, and everything else as a bug of ours, logged and
 * without its stack.
 */
export function finalErrorHandler(log: Log): ErrorRequestHandler {
  // Express recognizes an error handler by its four parameters.
  // oxlint-disable-next-line no-unused-vars
  return (error: unknown, req, res, _next) => {
    // The caller hung up while sending: nobody is left to answer, and this is no error of ours.
    if (typeOf(error) === 'request.aborted') return;
    const problem = usedUp(error) ?? callersFault(error);
    if (problem === null)
      log.error(
        { err: error, method: req.method, path: shortPath(req) },
        'a request failed because of a bug in the gate',
      );
    sendProblem(res, problem ?? { code: 'internal', detail: 'the gate failed at this request; its log says why' });
  };
}

/** Error codes of the kernel for a resource that is used up for now. */
const USED_UP = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN']);

function usedUp(error: unknown): Problem | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (!USED_UP.has(code)) return null;
  return { code: 'busy', detail: `descriptors, processes or memory of the gate's machine are used up (${code})` };
}

/** The problem for an error of the body parser or the path parser; null where it is a bug of ours. */
function callersFault(error: unknown): Problem | null {
  switch (typeOf(error)) {
    case 'entity.parse.failed':
      return { code: 'invalid_request', detail: badJson(error), errors: [{ pointer: '', detail: badJson(error) }] };
    case 'entity.too.large':
      return { code: 'too_large', detail: `the body is larger than ${limitOf(error)} bytes` };
    case 'encoding.unsupported':
      return { code: 'unsupported_media_type', detail: 'expected a body without Content-Encoding' };
    case 'charset.unsupported':
      return { code: 'unsupported_media_type', detail: 'expected a body in UTF-8' };
    default:
  }
  const status = error instanceof Error && 'status' in error ? error.status : null;
  if (error instanceof URIError || status === 400)
    return { code: 'invalid_request', detail: 'the path or the body could not be decoded' };
  return null;
}

/** The parser's own message quotes the body, which may contain a secret; the position is enough to find the mistake. */
function badJson(error: unknown): string {
  const place = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined;
  return `expected a JSON object; the body is not one${place === undefined ? '' : ` (at character ${place})`}`;
}

function limitOf(error: unknown): string {
  return error instanceof Error && 'limit' in error ? String(error.limit) : 'allowed';
}

/** The body parser's type of the error; empty for any other. */
function typeOf(error: unknown): string {
  return error instanceof Error && 'type' in error && typeof error.type === 'string' ? error.type : '';
}

function shortPath(req: Request): string {
  return JSON.stringify(req.path.slice(0, 120));
}
