/** Answers what never became a request: too slow, headers too large, or not HTTP at all. */

import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { plainJson } from '../text/plain.js';
import { describeProblem, type Problem } from './problem.js';

/** How long a peer may go on sending after the answer before it is disconnected. */
const LINGER_MS = 1_000;

/**
 * For a server's `clientError`. Writes the answer by hand, since there is no response object, and reads from the peer a
 * little longer: closing a connection with unread bytes loses the answer.
 */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable || socket.writableEnded || isAnswering(socket)) {
    socket.destroy();
    return;
  }
  answerByHand(socket, problemOf(error));
}

/** For a server's `connect` event: CONNECT has no path and no response object. */
export function refuseConnect(socket: Duplex): void {
  const detail = 'CONNECT is not supported: this is no proxy';
  answerByHand(socket, { code: 'method_not_allowed', detail, headers: { Allow: 'GET, HEAD, POST, DELETE' } });
}

function answerByHand(socket: Duplex, problem: Problem): void {
  socket.on('error', () => socket.destroy());
  const { status, headers, body } = describeProblem(problem);
  const text = `${plainJson(body)}\n`;
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    ...Object.entries({ ...headers, 'Content-Length': Buffer.byteLength(text), Connection: 'close' }).map(
      ([name, value]) => `${name}: ${value}`,
    ),
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`);
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

function problemOf({ code = 'unknown' }: NodeJS.ErrnoException): Problem {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return { code: 'request_timeout', detail: 'the request, with its headers and its body, did not arrive in time' };
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    return { code: 'headers_too_large', detail: 'expected a request line and headers of at most 16 KiB together' };
  }
  return { code: 'invalid_request', detail: `expected HTTP/1.1; the request could not be read (${code})` };
}

/** Part of an answer has been sent already: a second one would be read as part of its body. */
function isAnswering(socket: Duplex): boolean {
  const message: unknown = Reflect.get(socket, '_httpMessage');
  return typeof message === 'object' && message !== null && 'headersSent' in message && message.headersSent === true;
}
