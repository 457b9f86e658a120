/** What the gate does to the runtime. */

import type { Grant, JobSpec } from '../admission.js';

export type ImageAnswer =
  | { readonly kind: 'present' }
  /** The pull goes on without the caller. */
  | { readonly kind: 'pulling' }
  | { readonly kind: 'not_found'; readonly daemonMessage: string }
  | { readonly kind: 'failed'; readonly daemonMessage: string }
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
  /** 404 or 409: it is not there any more, or on its way out. */
  | { readonly kind: 'gone'; readonly daemonMessage: string }
  | { readonly kind: 'refused'; readonly daemonMessage: string }
  | { readonly kind: 'failed'; readonly daemonMessage: string }
  | { readonly kind: 'in_doubt'; readonly detail: string };

export type RemoveAnswer =
  | { readonly kind: 'removed' }
  | { readonly kind: 'gone' }
  /** The runtime refuses because it runs: then it lives, and nothing was done. */
  | { readonly kind: 'running'; readonly daemonMessage: string }
  | { readonly kind: 'in_doubt'; readonly detail: string };

/** What the gate does to the runtime. Always by container id; never with force; every call within a time limit. */
export interface Hands {
  /** Makes sure the image is here: one pull per image at a time, which outlives the caller; after `waitMs` says `pulling`. */
  ensureImage(image: string, waitMs: number): Promise<ImageAnswer>;
  create(spec: JobSpec, grant: Grant): Promise<CreateAnswer>;
  /** Settles when the runtime has answered, however long that takes (up to an hour, then in doubt). */
  start(id: string): Promise<StartAnswer>;
  remove(id: string): Promise<RemoveAnswer>;
}
