/** What the parts ask of each other and of the outside. Each port has one real thing behind it and, in tests, one honest fake. */

import type { Decision, Grant, JobRequest, JobSpec, Outcome, Phase, Principal, Refusal, Run } from './admission.js';
import type { CardUuid } from './card.js';
import type { Occupancy } from './occupancy.js';
import type { ContainersSeen, Exclusion, Probed, RememberedCard, SeenContainer, Snapshot } from './snapshot.js';

/** The time, handed in. */
export interface Clock {
  /** Epoch milliseconds, for people and for labels. */
  now(): number;
  /** Milliseconds that never go back, for durations. */
  monotonic(): number;
}

/** Structured log lines; the first argument is data, the second a plain sentence. */
export interface Log {
  debug(data: object, sentence: string): void;
  info(data: object, sentence: string): void;
  warn(data: object, sentence: string): void;
  error(data: object, sentence: string): void;
}

// ---- eyes -------------------------------------------------------------------------------------------------------------

/** The runtime's own books: which containers there are. A list that failed is blind, never empty. */
export interface Books {
  /** Every container, each with its claim and what it is pinned to. */
  list(): Promise<Probed<ContainersSeen>>;
  /** The containers that carry this run id or have the name it would have; in any state. */
  findRun(runId: string): Promise<Probed<readonly SeenContainer[]>>;
  /** When and how a container started and ended. Null when it is gone. Blind when the runtime does not answer in time. */
  describe(container: SeenContainer): Promise<Probed<RunDetails | null>>;
}

export interface RunDetails {
  readonly exitCode: number | null;
  readonly oomKilled: boolean | null;
  readonly error: string | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
}

/** Looks at the machine, one look at a time. */
export interface Eyes {
  /** A look that started after this call. For admissions. */
  fresh(): Promise<Snapshot>;
  /**
   * A look that is running, or one that ended at most `maxAgeMs` ago, or a new one. After `withinMs` the parts that have not
   * answered read as blind by `timeout`, and the rest is true. For scrapes and pages.
   */
  recent(maxAgeMs: number, withinMs: number): Promise<Snapshot>;
  /** Something was changed by this gate: no look that started before this call is used again by `recent`. */
  outdated(): void;
}

// ---- memory -----------------------------------------------------------------------------------------------------------

/** The cards seen before and the cards taken out, kept in the state folder over a restart. */
export interface CardBook {
  remembered(): readonly RememberedCard[];
  /** Replaces what is remembered; written only when it changed. Never throws: what cannot be written is logged and kept in memory. */
  remember(cards: readonly RememberedCard[]): void;
  exclusions(): readonly Exclusion[];
  /** These three reject when the folder cannot be written: an operator's word must not be lost silently. */
  exclude(exclusion: Exclusion): Promise<void>;
  /** Whether it had been excluded. */
  include(uuid: CardUuid): Promise<boolean>;
  /** Whether it had been remembered. */
  forget(uuid: CardUuid): Promise<boolean>;
}

/** The lock that keeps rivals apart. It is advisory: the claim protocol is safe without it. */
export interface Lock {
  /** Waits until it is held. Null when the signal aborted first; nothing of the wait stays behind. */
  acquire(signal: AbortSignal): Promise<Hold | null>;
  /** Why nobody can have it now, for an answer (`redis does not answer: …`, `held by another for …`); null when nothing is known. */
  problem(): string | null;
  readonly held: boolean;
  /** Null without Redis. */
  readonly up: boolean | null;
}

export interface Hold {
  /** One renewal: true when the lock is still ours right now. */
  confirm(): Promise<boolean>;
  /** Never throws; a lock that was lost is logged and counted by the lock itself. */
  release(): Promise<void>;
  /** Aborted when the lease is lost. */
  readonly lost: AbortSignal;
}

// ---- hands ------------------------------------------------------------------------------------------------------------

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

// ---- faces ------------------------------------------------------------------------------------------------------------

/** Counts what happened. Knows nothing of decisions beyond their names. */
export interface Meter {
  outcome(outcome: Outcome, seconds: number): void;
  /** Told to wait: counts as waiting for 30 s, or until it is admitted. */
  toldToWait(runId: string): void;
  noLongerWaiting(runId: string): void;
  phase(phase: Phase, seconds: number): void;
  lockHeldFor(seconds: number): void;
  lockLost(): void;
  claimRace(): void;
  leftOverRemoved(): void;
  granted(cards: number): void;
  startFailed(cards: readonly CardUuid[]): void;
  /** Every finished look, once: its failures are counted and its successes dated. */
  looked(snapshot: Snapshot): void;
}

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
  remove(runId: string): Promise<'removed' | 'alive' | 'unknown' | Refusal>;
}

/** Judges what the eyes see, by the settings of this gate. */
export interface Watch {
  recent(withinMs: number): Promise<Watched>;
  fresh(): Promise<Watched>;
}
export interface Watched {
  readonly snapshot: Snapshot;
  readonly occupancy: Occupancy;
}

/** The policy of this machine: lets a request through with its defaults filled in, or says field by field what it may not. */
export type Policy = (request: JobRequest) => Promise<JobSpec | Refusal>;

/** One line per decision, for whoever must know later who started what. */
export interface Audit {
  write(entry: AuditEntry): void;
}
export interface AuditEntry {
  readonly at: string;
  readonly action: 'admit' | 'delete' | 'exclude' | 'include' | 'forget';
  readonly principal: string;
  readonly remote: string | null;
  readonly runId: string | null;
  /** The decision or the code. */
  readonly outcome: string;
  readonly detail: string | null;
  readonly count: number | null;
  readonly image: string | null;
  readonly cards: readonly string[];
  readonly containerId: string | null;
  readonly tookMs: number;
}

/** The line of this process in front of the lock; everybody in it when the lock is taken is one batch. */
export interface TurnQueue<Job, Result> {
  /** Settles when served, when the signal aborts while it still waits (`left`), or at once when the line is full. */
  join(job: Job, signal: AbortSignal): Promise<Turn<Result>>;
  readonly waiting: number;
}
export type Turn<Result> =
  | { readonly kind: 'served'; readonly result: Result; readonly waitedMs: number }
  | { readonly kind: 'left' }
  | { readonly kind: 'full' };
