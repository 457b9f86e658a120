/** The lock, and the queue in front of it. */

/** The lock that keeps rivals apart. It is advisory: the claim protocol is safe without it. */
export interface Lock {
  /** Waits until the lock is held. Null when the signal aborted first; nothing of the wait is left. */
  acquire(signal: AbortSignal): Promise<Hold | null>;
  /**
   * Why the lock is unavailable now, for an answer (`redis does not answer: …`, `held by another for …`); null when nothing
   * is known.
   */
  problem(): string | null;
  readonly held: boolean;
  /** Null without Redis. */
  readonly up: boolean | null;
}

export interface Hold {
  /** One renewal: true when the lock is still ours right now. */
  confirm(): Promise<boolean>;
  /** Never throws; the lock itself logs and counts a loss. */
  release(): Promise<void>;
  /** Aborted when the lease is lost. */
  readonly lost: AbortSignal;
}

/** The queue of this process in front of the lock; all jobs in it when the lock is taken are one batch. */
export interface TurnQueue<Job, Result> {
  /** Settles when served, or when the signal aborts while it still waits (`left`). Rejects where serving it failed. */
  join(job: Job, signal: AbortSignal): Promise<Turn<Result>>;
  readonly waiting: number;
}

export type Turn<Result> =
  | { readonly kind: 'served'; readonly result: Result; readonly waitedMs: number }
  | { readonly kind: 'left' };

/**
 * One job of a batch that is being served. Each is answered or failed once, during the turn or after it; the first call
 * counts.
 */
export interface ServedJob<Job, Result> {
  readonly job: Job;
  answer(result: Result): void;
  fail(error: unknown): void;
}
