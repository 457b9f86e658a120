/** The runtime's own books: which containers there are. */

import type { ContainersSeen, Probed, SeenContainer } from '../snapshot.js';

/** A list that failed is blind, never empty. */
export interface Books {
  /** Every container that lives, each with its claim and what it is pinned to. What has ended holds nothing and is not in it. */
  list(): Promise<Probed<ContainersSeen>>;
  /** Every run and every claim, in any state: for people. */
  listRuns(): Promise<Probed<ContainersSeen>>;
  /** The containers that carry this run id or have the name it would have; in any state. */
  findRun(runId: string): Promise<Probed<readonly SeenContainer[]>>;
  /** The containers that carry this run id, whatever their name; in any state, by one list. */
  findLabelled(runId: string): Promise<Probed<readonly SeenContainer[]>>;
  /** When and how a container started and ended. Null when it is gone. Blind when the runtime does not answer in time. */
  describe(container: SeenContainer): Promise<Probed<RunDetails | null>>;
  /**
   * Whether a container has its labels from its image (`docker commit` puts the labels of a job into the image it makes) and so
   * is not the run that they name. Null where the runtime does not tell in time.
   */
  isCopy(container: SeenContainer): Promise<boolean | null>;
}

export interface RunDetails {
  readonly exitCode: number | null;
  readonly oomKilled: boolean | null;
  readonly error: string | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
}
