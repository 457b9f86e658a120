/** What a failure says about Redis, in words for the operator. */

import { errorWords } from '../../text/error-words.js';

/** What a failed question says about Redis, as a sentence. ioredis has names for two kinds of its errors and none for the rest. */
export function explainFailure(error: Error): string {
  if (error.name === 'ReplyError') return `Redis refuses: ${error.message}`;
  if (error.message === 'Command timed out') return 'Redis does not answer: no reply within 1000 ms';
  return `Redis does not answer: ${errorWords(error)}`;
}

/** Why there is no connection to ask on. A question then fails with words about streams and queues that help nobody. */
export function explainNotReady(status: string, connectionError: Error | null): string {
  if (connectionError !== null) return explainFailure(connectionError);
  if (status === 'connect') return 'Redis does not answer: connected, and not ready yet (is it loading its data?)';
  return 'Redis does not answer: the connection was closed';
}

/** A replica cannot be written; another connection may lead to the master. Redis before 7 wraps what a script ran into. */
export function asksForAnother(error: Error): boolean {
  return /(^|-)READONLY /.test(error.message);
}
