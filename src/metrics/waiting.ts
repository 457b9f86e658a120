/** Which runs were told to wait a moment ago and have not been admitted since. */

/** The last `forMs` of waiting; bounded, whatever is asked. */
export interface Waiting {
  told(runId: string, nowMs: number): void;
  over(runId: string): void;
  count(nowMs: number): number;
}

/** More runs than any machine has waiting; beyond it the ones told longest ago are forgotten. */
const MOST = 10_000;

/** Keeps one moment per run, in order of time, so that what is too old is always in front. */
export function createWaiting(forMs = 30_000, most = MOST): Waiting {
  const toldAt = new Map<string, number>();

  function forget(nowMs: number): void {
    for (const [runId, at] of toldAt) {
      if (nowMs - at < forMs && toldAt.size <= most) return;
      toldAt.delete(runId);
    }
  }

  return {
    told(runId, nowMs) {
      toldAt.delete(runId);
      toldAt.set(runId, nowMs);
      forget(nowMs);
    },
    over(runId) {
      toldAt.delete(runId);
    },
    count(nowMs) {
      forget(nowMs);
      return toldAt.size;
    },
  };
}
