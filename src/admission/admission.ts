/**
 * One request to `/admit` as it goes through the nine steps in src/README.md, and the possible results of its turn under the
 * lock.
 */

import type { Decision, Grant, JobSpec, Principal, Refusal, Running } from '../model/admission.js';
import type { Asking } from '../model/ports/line.js';
import type { ServedJob } from '../model/ports/lock.js';
import type { Existing } from './existing/existing-meaning.js';

export interface Admission {
  readonly spec: JobSpec;
  /** The caller's name. */
  readonly principal: Principal;
  /** Aborted when the caller hangs up. The request is dropped if its container has not been created by then. */
  readonly gone: AbortSignal;
  /** On the monotonic clock: until when it may wait for the lock, or for an earlier container to disappear. */
  readonly untilMs: number;
  /** The request's handle on its run's place in line. */
  readonly asking: Asking;
}

/** A container that this process created and has not started, after the check that nothing else claims its cards. */
export interface Claimed extends Omit<Running, 'run'> {
  readonly kind: 'claimed';
  readonly spec: JobSpec;
  readonly grant: Grant;
  readonly containerId: string;
}

/**
 * Start over. `lost_race`: another claim was on its cards, or its run had another container. `changed`: the run's existing
 * container is gone or has changed. `gone`: the lists do not show the created container.
 */
export interface Again {
  readonly kind: 'again';
  readonly why: 'lost_race' | 'lease_lost' | 'name_taken' | 'image_gone' | 'gone' | 'changed';
}

/** The result of a request's turn under the lock. */
export type TurnResult =
  | Claimed
  /** The run already has a container. */
  | { readonly kind: 'existing'; readonly existing: Existing }
  | Again
  | Extract<Decision, { kind: 'wait' | 'client_gone' }>
  | Refusal;

/** A request in the batch that is being served. */
export type Served = ServedJob<Admission, TurnResult>;
