/** Who asked for what, and the outcome. */

/** One line per decision, for later questions about who started what. */
export interface Audit {
  write(entry: AuditEntry): void;
}

/** Calls that change something when they are allowed. */
export type ChangingAction = 'admit' | 'delete' | 'stop' | 'exclude' | 'include' | 'forget';

export interface AuditEntry {
  readonly at: string;
  /** `dry_run` and `call`: for calls that change nothing, only refusals are recorded. */
  readonly action: ChangingAction | 'dry_run' | 'call';
  readonly principal: string;
  /** Who spoke for the principal; left out where it spoke for itself. */
  readonly delegate?: string;
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
  /** How many entries of the same kind this line stands for; one if left out. */
  readonly times?: number;
}
