/** One request to `/admit` on its way through the steps of a claim, and what a turn under the lock makes of it. */

import type { Decision, Grant, JobSpec, Refusal, Running } from '../model/admission.js';
import type { ServedJob } from '../model/ports/lock.js';
import type { Existing } from './existing/existing-meaning.js';

export interface Admission {
  readonly spec: JobSpec;
  /** Who asks, by name. */
  readonly principal: string;
  /** Aborted when the caller hung up: before its container is created it is dropped. */
  readonly gone: AbortSignal;
  /** On the monotonic clock: how long it may wait for the lock, or for an earlier container to go. */
  readonly untilMs: number;
}

/** A container that this process created and has not started: nothing else was found on its cards. */
export interface Claimed extends Omit<Running, 'run'> {
  readonly kind: 'claimed';
  readonly spec: JobSpec;
  readonly grant: Grant;
  readonly containerId: string;
}

/**
 * Start over. `lost_race`: another claim was on its cards, or another container of its run was there. `changed`: what there was of
 * the run is gone, or another by now. `gone`: what was created is not in the books.
 */
export interface Again {
  readonly kind: 'again';
  readonly why: 'lost_race' | 'lease_lost' | 'name_taken' | 'image_gone' | 'gone' | 'changed';
}

/** What became of a request in its turn. */
export type TurnResult =
  | Claimed
  /** A container of this run is there already. */
  | { readonly kind: 'existing'; readonly existing: Existing }
  | Again
  | Extract<Decision, { kind: 'wait' | 'client_gone' }>
  | Refusal;

/** A request whose turn has come. */
export type Served = ServedJob<Admission, TurnResult>;
