/** Who asked for what, and what came of it. */

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
