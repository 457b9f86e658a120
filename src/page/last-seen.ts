/** When each probe last could see, so that a dark lamp can say since when. */

import { PROBES, type ProbeName, type Snapshot } from '../model/snapshot.js';

export interface LastSeen {
  /** Told every look that has ended. */
  looked(snapshot: Snapshot): void;
  /** Epoch milliseconds of the last look in which the probe could see; null: in none so far. */
  times(): Readonly<Record<ProbeName, number | null>>;
}

export function createLastSeen(): LastSeen {
  const times: Record<ProbeName, number | null> = { gpus: null, processes: null, health: null, docker: null };
  return {
    looked(snapshot) {
      for (const probe of PROBES) if (snapshot[probe].kind === 'seen') times[probe] = snapshot.startedAtMs;
    },
    times: () => times,
  };
}
