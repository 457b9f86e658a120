import { toDockerTrouble, type DockerTrouble } from './errors.js';

/** What came of one call to Docker. */
export type Asked<T> = { readonly kind: 'answer'; readonly value: T } | DockerTrouble;

/**
 * One call to Docker that ends within `limitMs`, the answer's body included, and never throws. The signal ends the call's
 * connection; a call that does not heed it (a body cut short by the peer) is left behind. Giving up is not undoing: what
 * was asked may still happen.
 */
export async function askDocker<T>(limitMs: number, call: (signal: AbortSignal) => Promise<T>): Promise<Asked<T>> {
  const giveUp = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<DockerTrouble>((resolve) => {
    timer = setTimeout(() => {
      resolve({ kind: 'timeout', message: `no whole answer within ${limitMs} ms` });
      giveUp.abort();
    }, limitMs);
  });
  try {
    return await Promise.race([settled(call, giveUp.signal), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function settled<T>(call: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<Asked<T>> {
  try {
    return { kind: 'answer', value: await call(signal) };
  } catch (error) {
    return toDockerTrouble(error);
  }
}
