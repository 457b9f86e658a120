/** The last decisions, in memory, for the page. The audit has all of them; this is the overview for a person. */

import type { Audit, AuditEntry, ChangingAction } from '../model/ports/audit.js';

/** A decision, and how often it was made in the same words since `firstAt`. */
export interface RecentDecision extends AuditEntry {
  readonly action: ChangingAction;
  readonly times: number;
  /** ISO 8601, UTC. */
  readonly firstAt: string;
}

export interface RecentDecisions extends Audit {
  /** Newest first. */
  recent(): readonly RecentDecision[];
}

const KEEP = 50;
/** Docker's own words can be long, and the page shows one line. */
const LONGEST_DETAIL = 600;

/**
 * An audit that passes everything on and remembers the last `keep`. A client repeats its request every few seconds while a
 * job waits: a decision equal to the last one about the same run replaces it and counts up, or one waiting job would push
 * all others out. Callers who fail authentication have no run and share an entry likewise.
 */
export function rememberDecisions(audit: Audit, keep = KEEP): RecentDecisions {
  const decisions: RecentDecision[] = [];
  return {
    write(entry) {
      audit.write(entry);
      const { action } = entry;
      // A refused call that would have changed nothing is no decision.
      if (action === 'call' || action === 'dry_run') return;
      // The last decision on this subject; if it differs from the new one it stays, so that the order of events is visible.
      const at = decisions.findIndex((each) => subjectOf(each) === subjectOf(entry));
      const last = decisions[at];
      const again = last !== undefined && last.outcome === entry.outcome;
      if (again) decisions.splice(at, 1);
      decisions.unshift({
        ...entry,
        action,
        detail: shortened(entry.detail),
        times: again ? last.times + 1 : 1,
        firstAt: again ? last.firstAt : entry.at,
      });
      if (decisions.length > keep) decisions.pop();
    },
    recent: () => decisions,
  };
}

/** Its subject: a run, a card or, where neither is known, the caller. */
function subjectOf({ action, runId, principal, cards }: AuditEntry): string {
  if (runId !== null) return JSON.stringify([action, 'run', runId]);
  return JSON.stringify(cards.length > 0 ? [action, 'cards', ...cards] : [action, 'principal', principal]);
}

function shortened(detail: string | null): string | null {
  return detail === null || detail.length <= LONGEST_DETAIL ? detail : `${detail.slice(0, LONGEST_DETAIL)}…`;
}
