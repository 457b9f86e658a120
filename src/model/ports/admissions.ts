/** What the faces ask of admissions, runs and the policy. */

import type { Decision, JobRequest, JobSpec, Principal, Refusal, Run } from '../admission.js';
import type { Probed } from '../snapshot.js';

/** What the gate is busy with now, for gauges. */
export interface GateStatus {
  readonly inFlight: number;
  readonly lockWaiters: number;
  readonly lockHeld: boolean;
  /** Null without Redis. */
  readonly redisUp: boolean | null;
  readonly draining: boolean;
}

/** The door to the claim protocol. */
export interface Admissions {
  /** Decides. `gone` aborts when the caller hangs up: it is dropped from the queue, but nothing that was created is undone. */
  admit(spec: JobSpec, principal: Principal, gone: AbortSignal): Promise<Decision>;
  /** What would be decided now; takes no lock, pulls and changes nothing. */
  dryRun(spec: JobSpec): Promise<Decision>;
  status(): GateStatus;
}

/** The jobs on this machine. */
export interface Runs {
  list(): Promise<Probed<readonly Run[]>>;
  get(runId: string): Promise<Probed<Run | null>>;
  /** Removes what had ended. */
  remove(runId: string): Promise<'removed' | 'alive' | 'out_of_reach' | 'unknown' | Refusal>;
  /** Takes a run off the books that is out of reach; ends nothing. `why` says of any other how it stands. */
  giveUp(
    runId: string,
  ): Promise<'given_up' | 'unknown' | Refusal | { readonly kind: 'in_reach'; readonly why: string }>;
}

/** The policy of this machine: lets a request through with its defaults filled in, or says field by field what it may not. */
export type Policy = (request: JobRequest) => Promise<JobSpec | Refusal>;
