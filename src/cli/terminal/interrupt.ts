import { readerLeft } from './say.js';

/**
 * Aborts on Ctrl-C or SIGTERM, and when the reader of the output is gone, so that a command ends by itself and restores the
 * terminal. A second signal ends it at once.
 */
export function untilInterrupted(): AbortSignal {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  return AbortSignal.any([interrupted.signal, readerLeft]);
}
