/** Raw HTTP: requests that no Node client would send, and every answer to them. */

import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../support/call.js';

/**
 * Sends raw text and returns what arrives until the other side closes. To Node a half-closed connection is a caller that
 * hung up, so our side stays open until the answer has come.
 */
export async function speak(
  port: number,
  pieces: readonly string[],
  end: 'at once' | 'when answered',
  pauseMs = 0,
): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1');
    if (end === 'when answered' && !answer.endsWith(CONTINUE)) setTimeout(() => socket.end(), 20);
  });
  // A connection that is closed while sending may have delivered its answer all the same.
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  for (const piece of pieces) {
    socket.write(piece, 'latin1');
    if (pauseMs > 0) await sleep(pauseMs);
  }
  if (end === 'at once') socket.end();
  await closed;
  return answer;
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

/** Every answer on a connection, split by their own lengths. */
export function answersIn(text: string): Answer[] {
  const found: Answer[] = [];
  for (let rest = text.replaceAll(CONTINUE, ''); rest !== '';) {
    const [, status, lines] = /^HTTP\/1\.1 (\d{3}) [^\r]*\r\n([^]*?)\r\n\r\n/.exec(rest) ?? [];
    if (status === undefined || lines === undefined)
      throw new Error(`no answer of HTTP: ${JSON.stringify(rest.slice(0, 200))}`);
    const headers = Object.fromEntries(
      lines
        .split('\r\n')
        .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const head = rest.indexOf('\r\n\r\n') + 4;
    const length = Number(headers['content-length'] ?? 0);
    const body = rest.slice(head, head + length);
    found.push({ status: Number(status), headers, text: body, body });
    // An answer without a length is the last one, or has no body.
    rest = headers['content-length'] === undefined ? '' : rest.slice(head + length);
  }
  return found;
}
