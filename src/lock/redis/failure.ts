/** What a failure tells about Redis, in words for the operator. */

import { errorWords } from '../../text/error-words.js';

/**
 * What a failed question tells about Redis, as a sentence. ioredis gives two kinds of its errors a name and the others none.
 */
export function explainFailure(error: Error): string {
  if (error.name === 'ReplyError') return `Redis refuses: ${error.message}`;
  if (error.message === 'Command timed out') return 'Redis does not answer: no reply within 1000 ms';
  return `Redis does not answer: ${errorWords(error)}`;
}

/**
 * Why there is no connection. The error of a question that fails for that reason talks of streams and queues, which helps
 * nobody.
 */
export function explainNotReady(status: string, connectionError: Error | null): string {
  if (connectionError !== null) return explainFailure(connectionError);
  if (status === 'connect') return 'Redis does not answer: connected, and not ready yet (is it loading its data?)';
  return 'Redis does not answer: the connection was closed';
}

/**
 * A replica accepts no writes; another connection may lead to the master. Redis before 7 wraps the error that a script hit.
 */
export function asksForAnother(error: Error): boolean {
  return /(^|-)READONLY /.test(error.message);
}

/** The cluster node with the lock's slot, as another node reports it; the host is empty where it is the answering node. */
export function movedTo(error: Error): { readonly host: string; readonly port: number } | null {
  const [, host, port] = /^MOVED \d+ (\S*):(\d+)$/.exec(error.message) ?? [];
  return host === undefined ? null : { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) };
}
