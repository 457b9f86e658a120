/** The books: the containers that the runtime has, and so who holds which card. */

import type { ContainersSeen, Probed, SeenContainer } from '../snapshot.js';

/** A list that failed is blind, never empty. */
export interface Books {
  /**
   * Every live container, with its claim and what it is pinned to. Containers that have ended hold nothing and are left out.
   */
  list(): Promise<Probed<ContainersSeen>>;
  /** Every run and every claim, in any state: for people. */
  listRuns(): Promise<Probed<ContainersSeen>>;
  /** The containers with this run id or with the name of this run; in any state. */
  findRun(runId: string): Promise<Probed<readonly SeenContainer[]>>;
  /** The containers with this run id, whatever their name; in any state, by one list request. */
  findLabelled(runId: string): Promise<Probed<readonly SeenContainer[]>>;
  /** When and how a container started and ended. Null when it is gone. Blind when the runtime does not answer in time. */
  describe(container: SeenContainer): Promise<Probed<RunDetails | null>>;
  /** The output of a run as it comes, both streams in one; ends with the run where it is followed, and when `signal` aborts. */
  output(container: SeenContainer, wanted: OutputWanted, signal: AbortSignal): Promise<OutputAnswer>;
  /**
   * Whether a container's labels come from its image (`docker commit` copies a job's labels into the image), so that it is
   * not the run that they name. Null where the runtime does not answer in time.
   */
  isCopy(container: SeenContainer): Promise<boolean | null>;
}

export interface OutputWanted {
  /** Goes on until the run has ended. */
  readonly follow: boolean;
  /** The last so many lines; null: all. */
  readonly tail: number | null;
  /** A runtime that keeps both streams in one shows them all the same. */
  readonly stderr: boolean;
}

export type OutputAnswer =
  /** Nothing is read ahead of whoever reads it. It may break off with an error. */
  | { readonly kind: 'stream'; readonly stream: AsyncIterable<Uint8Array> }
  | { readonly kind: 'gone' }
  | { readonly kind: 'unavailable'; readonly detail: string };

export interface RunDetails {
  /** As it was asked for; null where the runtime knows none. */
  readonly image?: string | null;
  readonly exitCode: number | null;
  readonly oomKilled: boolean | null;
  readonly error: string | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
}
