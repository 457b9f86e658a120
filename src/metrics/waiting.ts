/** Which runs got `wait` recently and have not been admitted since. */

/** Runs that waited within the last `forMs`; bounded, however many there are. */
export interface Waiting {
  told(runId: string, nowMs: number): void;
  over(runId: string): void;
  count(nowMs: number): number;
}

/** More waiting runs than any machine has; beyond it the oldest entries are forgotten. */
const MOST = 10_000;

/** Stores one time stamp per run, in order of time, so that expired entries are always in front. */
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
