import { pause } from './pause.js';

/** What the promise gives, or null when it has not settled within the time. The promise goes on. */
export async function inTime<T>(promise: Promise<T>, withinMs: number): Promise<T | null> {
  const stop = new AbortController();
  try {
    return await Promise.race([promise, pause(withinMs, stop.signal).then(() => null)]);
  } finally {
    stop.abort();
  }
}
