/** One request to `/admit`, what it asks for, and the possible decisions about it. */

import type { CardIndex, CardUuid } from './card.js';
import type { Placement } from './placement.js';
import type { ContainerState } from './snapshot.js';

export type Mount =
  | { readonly type: 'bind'; readonly source: string; readonly target: string; readonly readOnly: boolean }
  | { readonly type: 'volume'; readonly source: string; readonly target: string; readonly readOnly: boolean };

/** What the caller asked for, validated and without defaults: undefined means "not asked". */
export interface ContainerRequest {
  readonly image: string;
  readonly command?: readonly string[] | undefined;
  readonly entrypoint?: readonly string[] | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir?: string | undefined;
  readonly user?: string | undefined;
  readonly shmBytes?: number | undefined;
  readonly memoryBytes?: number | undefined;
  readonly cpus?: number | undefined;
  readonly mounts: readonly Mount[];
  readonly network?: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  /** Soft and hard limit; -1 is unlimited. */
  readonly ulimits: Readonly<Record<string, number>>;
  readonly ports: readonly { readonly container: number; readonly host: number }[];
  readonly devices: readonly string[];
  readonly capAdd: readonly string[];
  readonly ipc?: string | undefined;
  /** Whether Docker's init is process 1; undefined: it is. */
  readonly init?: boolean | undefined;
}

/** A valid request; `count` 0 is a job without cards. */
export interface JobRequest {
  readonly runId: string;
  readonly count: number;
  readonly container: ContainerRequest;
  /** SHA-256, hex, over the request as received (keys sorted), to recognize another request with the same run id. */
  readonly specSha256: string;
}

/** A request that the policy allowed: bind sources resolved, defaults filled in, a pids limit set. */
export interface JobSpec extends JobRequest {
  readonly pidsLimit: number;
}

/** The caller. Without a tokens file everybody is `local` and may do everything. */
export const ROLES = ['admit', 'release', 'operate', 'read', 'delegate'] as const;
export type Role = (typeof ROLES)[number];
export interface Principal {
  readonly name: string;
  readonly roles: readonly Role[];
  /** Who spoke for it, by a token with the role `delegate`; left out: it spoke for itself. */
  readonly delegate?: string;
}

/** A card given to a run. Uuid null only where none is known and the operator allows admission when blind. */
export interface GrantedCard {
  readonly index: CardIndex | null;
  readonly uuid: CardUuid | null;
  readonly name: string | null;
}

/** What is written on a container besides the spec. */
export interface Grant {
  readonly cards: readonly GrantedCard[];
  readonly admittedBy: string;
  /** The life of the admitting process: a random value made at each start. */
  readonly life: string;
  /** ISO 8601, UTC; unique among the grants of one life. */
  readonly admittedAt: string;
  readonly principal: string;
  /** Who spoke for it; empty: it spoke for itself. */
  readonly delegate: string;
}

/** The container of a run, for an answer. `exitCode` null where it has not ended or could not be inspected. */
export interface RunRef {
  readonly name: string;
  readonly containerId: string;
  readonly state: ContainerState;
  readonly exitCode: number | null;
}

export const WAIT_CODES = [
  'job_held',
  'external',
  'unhealthy',
  'excluded',
  'unknown',
  'reserved',
  'ahead_in_line',
  'lost_race',
  'probe_blind',
  'image_pulling',
] as const;
export type WaitCode = (typeof WAIT_CODES)[number];

export interface WaitReason {
  readonly code: WaitCode;
  /** The cards concerned; empty where it is about none in particular. */
  readonly cards: readonly CardIndex[];
}

/** Codes of the refusals of an admission; each has its row in the table of answers in README.md. */
export const REFUSAL_CODES = [
  'invalid_request',
  'unauthenticated',
  'forbidden',
  'policy_denied',
  'run_id_reused',
  'unsatisfiable',
  'image_not_found',
  'image_pull_failed',
  'container_refused',
  'create_failed',
  'start_failed',
  'docker_unavailable',
  'lock_unavailable',
  'draining',
  'busy',
  'stopped',
  'unsupported_media_type',
  'too_large',
  'internal',
] as const;
export type RefusalCode = (typeof REFUSAL_CODES)[number];

export interface FieldError {
  /** JSON pointer into the request: `/container/mounts/0/source`; empty for the whole. */
  readonly pointer: string;
  readonly detail: string;
}

export interface Refusal {
  readonly kind: 'refused';
  readonly code: RefusalCode;
  /** What failed and what to do about it, for a person. */
  readonly detail: string;
  readonly errors?: readonly FieldError[];
  /** Docker's own words. */
  readonly daemonMessage?: string;
  /** Whether nothing of the attempt is left. */
  readonly rolledBack?: boolean;
  readonly retryAfterSeconds?: number;
}

export interface Wait {
  readonly requested: number;
  readonly free: number;
  readonly retryAfterSeconds: number;
  readonly explain: string;
  readonly reasons: readonly WaitReason[];
  /**
   * Its place in line; left out where it has none: in a dry run, and for a job that waits for something other than cards.
   */
  readonly place?: WaitPlace;
}

/** The position of a run in line: 1 is next. */
export interface WaitPlace {
  readonly position: number;
  readonly waitedMs: number;
}

export interface Running {
  readonly run: RunRef;
  readonly cards: readonly GrantedCard[];
  /** Null where the cards were not picked by this decision. */
  readonly placement: Placement | null;
  /** True where cards were counted as free although the probe was blind, because the operator allowed it. */
  readonly admittedBlind: boolean;
}

/** The decision, as a value that can be printed, counted, tested and answered. */
export type Decision =
  | ({ readonly kind: 'admitted'; readonly replayed: boolean } & Running)
  /** `explain` says who starts it, where that is another gate. */
  | ({ readonly kind: 'starting'; readonly explain?: string } & Running)
  | ({ readonly kind: 'ended' } & Running)
  | ({ readonly kind: 'wait' } & Wait)
  | {
      readonly kind: 'would_admit';
      readonly cards: readonly GrantedCard[];
      readonly placement: Placement | null;
      readonly admittedBlind: boolean;
    }
  | ({ readonly kind: 'would_wait' } & Wait)
  | ({ readonly kind: 'would_replay' } & Running)
  | Refusal
  /** The caller hung up before anything was created; nobody is left to answer. */
  | { readonly kind: 'client_gone' };

/** The values of the `outcome` label: each decision, each refusal, and `client_gone`. Dry runs are not counted. */
export const OUTCOMES = ['admitted', 'replayed', 'starting', 'ended', 'wait', ...REFUSAL_CODES, 'client_gone'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The codes of 401 and 403, for refused callers. */
export const REFUSED_CODES = [
  'unauthenticated',
  'forbidden',
  'policy_denied',
] as const satisfies readonly RefusalCode[];
export type RefusedCode = (typeof REFUSED_CODES)[number];

/** The phases of an admission with separate duration metrics. */
export const PHASES = ['pull', 'lock', 'look', 'claim', 'start'] as const;
export type Phase = (typeof PHASES)[number];

/** A job on this machine, as the runtime lists it. */
export interface Run {
  readonly runId: string;
  readonly state: ContainerState | 'start_failed' | 'waiting';
  /** Its place in line, 1 is next; null for a run that does not wait. */
  readonly position?: number | null;
  /** Who started it; null where its container does not say, as an older agent's. */
  readonly principal: string | null;
  /** The job's own, without those of the platform. */
  readonly labels: Readonly<Record<string, string>>;
  /** Null for a plain process, or where it could not be asked. */
  readonly image: string | null;
  /** As one text, for people. */
  readonly command: string | null;
  readonly cards: readonly { readonly index: CardIndex | null; readonly uuid: CardUuid | null }[];
  readonly exitCode: number | null;
  readonly oomKilled: boolean | null;
  readonly error: string | null;
  /** ISO 8601, UTC. */
  readonly createdAt: string | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
}
