/** What the gate does to the runtime. */

import type { Grant, JobSpec } from '../admission.js';
import type { ContainerState, SeenContainer } from '../snapshot.js';

export type ImageAnswer =
  | { readonly kind: 'present' }
  /** The pull goes on without the caller. */
  | { readonly kind: 'pulling' }
  | { readonly kind: 'not_found'; readonly daemonMessage: string }
  | { readonly kind: 'failed'; readonly daemonMessage: string }
  /** It is here, and no job may be started from it. */
  | { readonly kind: 'refused'; readonly detail: string }
  | { readonly kind: 'unavailable'; readonly detail: string };

export type CreateAnswer =
  | { readonly kind: 'created'; readonly id: string }
  | { readonly kind: 'name_taken'; readonly daemonMessage: string }
  /** Its own 4xx: no such command, a bad mount. */
  | { readonly kind: 'refused'; readonly daemonMessage: string }
  | { readonly kind: 'image_gone'; readonly daemonMessage: string }
  | { readonly kind: 'failed'; readonly daemonMessage: string }
  /** No answer: it may have happened, or may still. Ask the books. */
  | { readonly kind: 'in_doubt'; readonly detail: string };

export type StartAnswer =
  /** Also when it ran already (304). */
  | { readonly kind: 'started' }
  /** 404 or 409: it is not there any more, or on its way out, or not this process's to start. */
  | { readonly kind: 'gone'; readonly daemonMessage: string }
  | { readonly kind: 'refused'; readonly daemonMessage: string }
  | { readonly kind: 'failed'; readonly daemonMessage: string }
  | { readonly kind: 'in_doubt'; readonly detail: string };

export type RemoveAnswer =
  | { readonly kind: 'removed' }
  | { readonly kind: 'gone' }
  /** It is in another state by now than was expected, or the runtime refuses because it runs: nothing was done to it. */
  | { readonly kind: 'left'; readonly state: ContainerState }
  /**
   * Removed as one that never started, and the runtime's events tell that it had been started and had ended in between: the run
   * has run. `container` is as it was seen right before.
   */
  | { readonly kind: 'had_run'; readonly container: SeenContainer; readonly exitCode: number | null }
  | { readonly kind: 'in_doubt'; readonly detail: string };

/** In which state a container must still be to be removed: it never started, or it has ended. */
export type Removable = 'created' | 'ended';

export type GiveUpAnswer =
  | { readonly kind: 'given_up' }
  | { readonly kind: 'gone' }
  /** It can be told whether it lives, and nothing was done; `why` says for a person how it stands and what to do instead. */
  | { readonly kind: 'in_reach'; readonly why: string }
  | { readonly kind: 'in_doubt'; readonly detail: string };

/** Always by container id; never with force; every call within a time limit. */
export interface Hands {
  /** Makes sure the image is here: one pull per image at a time, which outlives the caller; after `waitMs` says `pulling`. */
  ensureImage(image: string, waitMs: number): Promise<ImageAnswer>;
  create(spec: JobSpec, grant: Grant): Promise<CreateAnswer>;
  /**
   * To be called once for a container, by whoever created it (src/README.md#step-8): a runtime also starts again what has
   * ended. Settles when the runtime has answered, however long that takes (up to an hour, then in doubt).
   */
  start(id: string): Promise<StartAnswer>;
  /**
   * Looks at the container once more and removes it if it is still `only` that. The runtime knows no condition on a removal, so
   * a start may slip in between: one that runs is refused, one that has ended too is told by `had_run` where the events tell.
   */
  remove(id: string, only: Removable): Promise<RemoveAnswer>;
  /**
   * Takes off the books, at an operator's word, what is `outOfReach` and so may live or not. Ends nothing: what still runs of it
   * goes on using its cards. Never what can be asked for.
   */
  giveUp(id: string): Promise<GiveUpAnswer>;
}
