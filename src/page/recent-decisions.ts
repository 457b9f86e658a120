/** The last decisions, in memory, for the page. The audit has all of them; this is what a person wants to see at a glance. */

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
/** Docker's own words can be long, and the page shows a line. */
const LONGEST_DETAIL = 600;

/**
 * An audit that passes everything on and remembers the last `keep`. A console asks again every few seconds for a job that
 * has to wait: what was decided of a run in the same way as the last time takes the place of that, with its count, or one
 * waiting job would push all others out. Callers who are turned away at the door have no run and share a place likewise.
 */
export function rememberDecisions(audit: Audit, keep = KEEP): RecentDecisions {
  const decisions: RecentDecision[] = [];
  return {
    write(entry) {
      audit.write(entry);
      const { action } = entry;
      // Who was turned away where nothing would have changed is no decision.
      if (action === 'call' || action === 'dry_run') return;
      // The last word on this subject; one that differs from it stays, so that the order of events can be read.
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

/** What it was about: a run, a card, or where neither is known whoever asked. */
function subjectOf({ action, runId, principal, cards }: AuditEntry): string {
  if (runId !== null) return JSON.stringify([action, 'run', runId]);
  return JSON.stringify(cards.length > 0 ? [action, 'cards', ...cards] : [action, 'principal', principal]);
}

function shortened(detail: string | null): string | null {
  return detail === null || detail.length <= LONGEST_DETAIL ? detail : `${detail.slice(0, LONGEST_DETAIL)}…`;
}
