/** The runtime's own books: which containers there are. */

import type { ContainersSeen, Probed, SeenContainer } from '../snapshot.js';

/** The runtime's own books: which containers there are. A list that failed is blind, never empty. */
export interface Books {
  /** Every container, each with its claim and what it is pinned to. */
  list(): Promise<Probed<ContainersSeen>>;
  /** The containers that carry this run id or have the name it would have; in any state. */
  findRun(runId: string): Promise<Probed<readonly SeenContainer[]>>;
  /** When and how a container started and ended. Null when it is gone. Blind when the runtime does not answer in time. */
  describe(container: SeenContainer): Promise<Probed<RunDetails | null>>;
}

export interface RunDetails {
  readonly exitCode: number | null;
  readonly oomKilled: boolean | null;
  readonly error: string | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
}
