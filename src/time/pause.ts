import { setTimeout as sleep } from 'node:timers/promises';

/** Waits that many milliseconds, or until the signal aborts. Never rejects; zero and less is no wait at all. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return;
  try {
    await sleep(ms, undefined, { signal });
  } catch {
    // Aborted: whoever handed in the signal knows.
  }
}
