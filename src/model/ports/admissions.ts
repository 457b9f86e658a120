/** The interface of admissions, runs and the policy for the HTTP endpoints. */

import type { Decision, JobRequest, JobSpec, Principal, Refusal, Run } from '../admission.js';
import type { LineView } from '../line.js';
import type { Occupancy } from '../occupancy.js';
import type { Probed } from '../snapshot.js';

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

/** The jobs on this machine. */
export interface Runs {
  list(): Promise<Probed<readonly Run[]>>;
  get(runId: string): Promise<Probed<Run | null>>;
  /** Removes a run that has ended. */
  remove(runId: string): Promise<'removed' | 'alive' | 'out_of_reach' | 'unknown' | Refusal>;
  /** Removes the record of a run that is out of reach; ends no process. For any other run, `why` describes its state. */
  giveUp(
    runId: string,
  ): Promise<'given_up' | 'unknown' | Refusal | { readonly kind: 'in_reach'; readonly why: string }>;
}

/** The policy of this machine: allows a request and fills in its defaults, or says field by field what is not allowed. */
export type Policy = (request: JobRequest) => Promise<JobSpec | Refusal>;
