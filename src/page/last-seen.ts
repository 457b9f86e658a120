/** When each probe could last see, so that the page can say since when one is blind. */

import { PROBES, type ProbeName, type Snapshot } from '../model/snapshot.js';

export interface LastSeen {
  /** Call it with every finished look. */
  looked(snapshot: Snapshot): void;
  /** Epoch milliseconds of the last look in which the probe could see; null: in none so far. */
  times(): Readonly<Record<ProbeName, number | null>>;
}

export function createLastSeen(): LastSeen {
  const times: Record<ProbeName, number | null> = {
    gpus: null,
    processes: null,
    health: null,
    docker: null,
    kernel: null,
  };
  return {
    looked(snapshot) {
      for (const probe of PROBES) if (snapshot[probe].kind === 'seen') times[probe] = snapshot.startedAtMs;
    },
    times: () => times,
  };
}
