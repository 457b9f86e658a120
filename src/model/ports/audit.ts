/** Who asked for what, and what came of it. */

/** One line per decision, for whoever must know later who started what. */
export interface Audit {
  write(entry: AuditEntry): void;
}

/** What changes something when it is let through. */
export type ChangingAction = 'admit' | 'delete' | 'exclude' | 'include' | 'forget';

export interface AuditEntry {
  readonly at: string;
  /** `dry_run` and `call`: of those that change nothing, only who was turned away is written down. */
  readonly action: ChangingAction | 'dry_run' | 'call';
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
  /** How many of the same kind this line stands for; one where it is left out. */
  readonly times?: number;
}
