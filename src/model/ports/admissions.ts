/** The interface of admissions, runs and the policy for the HTTP endpoints. */

import type { Decision, JobRequest, JobSpec, Principal, Refusal, Run } from '../admission.js';
import type { LineView } from '../line.js';
import type { Occupancy } from '../occupancy.js';
import type { Probed } from '../snapshot.js';
import type { OutputAnswer, OutputWanted } from './books.js';

/** Work in progress, for gauges. */
export interface GateStatus {
  readonly inFlight: number;
  readonly lockWaiters: number;
  readonly lockHeld: boolean;
  /** Null without Redis. */
  readonly redisUp: boolean | null;
  readonly draining: boolean;
  /** `oldestMs`: how long the longest-waiting run has waited; null when none waits. */
  readonly line: { readonly waiting: number; readonly oldestMs: number | null };
}

/** The entry to the claim protocol. */
export interface Admissions {
  /**
   * Decides. `gone` aborts when the caller hangs up: the request leaves the queue, but nothing that was created is undone.
   * A request that would get `wait` is held for up to `holdMs` and decided as soon as its turn comes.
   */
  admit(spec: JobSpec, principal: Principal, gone: AbortSignal, holdMs?: number): Promise<Decision>;
  /** Whether one more request can be held. */
  canHold(): boolean;
  /** All waiting runs, and the one for which cards of this look are reserved. */
  line(occupancy: Occupancy): LineView;
  /** What the decision would be now; takes no lock, pulls and changes nothing. */
  dryRun(spec: JobSpec): Promise<Decision>;
  status(): GateStatus;
}

/** Which runs are wanted; what is left out does not matter. */
export interface RunFilter {
  readonly state?: Run['state'];
  readonly principal?: string;
  /** The newest so many. */
  readonly limit?: number;
}

export type StopDone =
  | { readonly kind: 'stopping'; readonly run: Run }
  /** Nothing was done: it had ended. */
  | { readonly kind: 'ended'; readonly run: Run }
  /** It waited for cards, and does so no more. */
  | 'left_line'
  /** It was created and never started. */
  | 'removed'
  | { readonly kind: 'start_pending'; readonly why: string }
  | { readonly kind: 'failed'; readonly daemonMessage: string }
  | 'out_of_reach'
  | 'unknown'
  | 'forbidden'
  | Refusal;

/** The jobs on this machine. What is somebody else's is touched by an operator alone: `forbidden`. */
export interface Runs {
  /** Newest first. */
  list(filter?: RunFilter): Promise<Probed<readonly Run[]>>;
  get(runId: string): Promise<Probed<Run | null>>;
  /** Removes a run that has ended. */
  remove(
    runId: string,
    by: Principal,
  ): Promise<'removed' | 'alive' | 'out_of_reach' | 'unknown' | 'forbidden' | Refusal>;
  /** Takes a run out of the line, and touches nothing that has a container. */
  removeWaiting(
    runId: string,
    by: Principal,
  ): Promise<'removed' | 'alive' | 'ended' | 'unknown' | 'forbidden' | Refusal>;
  /** Removes the record of a run that is out of reach; ends no process. For any other run, `why` describes its state. */
  giveUp(
    runId: string,
  ): Promise<'given_up' | 'unknown' | Refusal | { readonly kind: 'in_reach'; readonly why: string }>;
  stop(runId: string, graceSeconds: number, by: Principal): Promise<StopDone>;
  output(
    runId: string,
    wanted: OutputWanted,
    by: Principal,
    signal: AbortSignal,
  ): Promise<Extract<OutputAnswer, { kind: 'stream' }> | 'unknown' | 'forbidden' | Refusal>;
}

/** The policy of this machine: allows a request and fills in its defaults, or says field by field what is not allowed. */
export type Policy = (request: JobRequest) => Promise<JobSpec | Refusal>;
