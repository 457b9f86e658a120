/** The hands: everything that the gate changes in the runtime. */

import type { Grant, JobSpec } from '../admission.js';
import type { ContainerState, SeenContainer } from '../snapshot.js';

export type ImageAnswer =
  | { readonly kind: 'present' }
  /** The pull goes on without the caller. */
  | { readonly kind: 'pulling' }
  | { readonly kind: 'not_found'; readonly daemonMessage: string }
  | { readonly kind: 'failed'; readonly daemonMessage: string }
  /** The image is present, but no job may be started from it. */
  | { readonly kind: 'refused'; readonly detail: string }
  | { readonly kind: 'unavailable'; readonly detail: string };

export type CreateAnswer =
  | { readonly kind: 'created'; readonly id: string }
  | { readonly kind: 'name_taken'; readonly daemonMessage: string }
  /** The runtime's own 4xx: no such command, a bad mount. */
  | { readonly kind: 'refused'; readonly daemonMessage: string }
  | { readonly kind: 'image_gone'; readonly daemonMessage: string }
  | { readonly kind: 'failed'; readonly daemonMessage: string }
  /** No answer: it may have happened, or may still happen. A list tells. */
  | { readonly kind: 'in_doubt'; readonly detail: string };

export type StoredAnswer =
  | { readonly kind: 'as_asked' }
  /** The runtime dropped a part of the request: remove it and never start it. `detail` says which part, for a person. */
  | { readonly kind: 'lacks'; readonly detail: string }
  | { readonly kind: 'gone' }
  | { readonly kind: 'in_doubt'; readonly detail: string };

export type StartAnswer =
  /** Also when it was running already (304). */
  | { readonly kind: 'started' }
  /** 404 or 409: it is gone, or being removed, or not this process's to start. */
  | { readonly kind: 'gone'; readonly daemonMessage: string }
  | { readonly kind: 'refused'; readonly daemonMessage: string }
  | { readonly kind: 'failed'; readonly daemonMessage: string }
  | { readonly kind: 'in_doubt'; readonly detail: string };

export type RemoveAnswer =
  | { readonly kind: 'removed' }
  | { readonly kind: 'gone' }
  /** Its state is not the expected one, or the runtime refuses because it runs: nothing was done to it. */
  | { readonly kind: 'left'; readonly state: ContainerState }
  /**
   * Removed as one that never started, but the runtime's events show that it was started and ended in between: the run has
   * been executed. `container` is its last known state.
   */
  | { readonly kind: 'had_run'; readonly container: SeenContainer; readonly exitCode: number | null }
  | { readonly kind: 'in_doubt'; readonly detail: string };

/** The state that a container must still have to be removed: it never started, or it has ended. */
export type Removable = 'created' | 'ended';

export type StopAnswer =
  /** It was told to end, and is killed after its grace. */
  | { readonly kind: 'stopping' }
  | { readonly kind: 'ended' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly daemonMessage: string }
  | { readonly kind: 'in_doubt'; readonly detail: string };

export type GiveUpAnswer =
  | { readonly kind: 'given_up' }
  | { readonly kind: 'gone' }
  /** Whether it lives can be determined, and nothing was done; `why` tells a person its state and what to do instead. */
  | { readonly kind: 'in_reach'; readonly why: string }
  | { readonly kind: 'in_doubt'; readonly detail: string };

/** Always by container id; never with force; every call has a time limit. */
export interface Hands {
  /**
   * Makes sure the image is present: one pull per image at a time, which goes on without its caller; after `waitMs` returns
   * `pulling`.
   */
  ensureImage(image: string, waitMs: number): Promise<ImageAnswer>;
  create(spec: JobSpec, grant: Grant): Promise<CreateAnswer>;
  /**
   * Whether the created container matches its request, by cards and labels. Not checked each time for a runtime that has
   * proved to keep them.
   */
  compare(id: string, spec: JobSpec, grant: Grant): Promise<StoredAnswer>;
  /**
   * Call this once per container, and only as its creator (src/README.md#step-8): a runtime also starts again what has
   * ended. Settles when the runtime has answered, however long that takes (after an hour, `in_doubt`).
   */
  start(id: string): Promise<StartAnswer>;
  /**
   * Checks the container's state once more and removes it if it is still `only` that. The runtime has no conditional
   * removal, so a start may slip in between: a running container is refused; one that has ended by then gives `had_run`, if
   * the events show it.
   */
  remove(id: string, only: Removable): Promise<RemoveAnswer>;
  /** Tells a live container to end, and kills it after the grace. Returns once it is told, not once it has ended. */
  stop(id: string, graceSeconds: number): Promise<StopAnswer>;
  /**
   * On an operator's command, removes the record of a run that is `outOfReach`, and so may be alive. Ends nothing: its
   * processes, if any, go on using its cards. Refused for a run whose state is known.
   */
  giveUp(id: string): Promise<GiveUpAnswer>;
}
