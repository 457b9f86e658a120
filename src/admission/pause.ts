import { setTimeout as sleep } from 'node:timers/promises';

/** Waits; ends early, without an error, when the signal aborts. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return;
  await sleep(ms, undefined, signal ? { signal } : {}).catch(() => {});
}
