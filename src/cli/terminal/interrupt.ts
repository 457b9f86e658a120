import { readerLeft } from './say.js';

/**
 * Aborts at Ctrl-C or SIGTERM, and when nobody reads any more, so that a command ends by itself and leaves the terminal in
 * order. A second signal ends it at once.
 */
export function untilInterrupted(): AbortSignal {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  return AbortSignal.any([interrupted.signal, readerLeft]);
}
