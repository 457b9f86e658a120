/**
 * An audit that combines repeated refusals of the same caller into one line, so that nobody can fill a disk from outside.
 */

import type { Audit, AuditEntry } from '../model/ports/audit.js';
import type { Clock } from '../model/ports/outside.js';

/** An entry that follows within this time belongs to the same burst. */
const QUIET_MS = 1000;
/** A burst that goes on is written this often. */
const LONGEST_MS = 60_000;
/** At most so many bursts are tracked apart; any further ones are merged per outcome. */
const MOST_BURSTS = 1000;

interface Burst {
  /** The latest entry that is not written yet; null where there is none. */
  last: AuditEntry | null;
  more: number;
  startedAt: number;
  lastAt: number;
}

/**
 * Passes everything on. For callers without valid authentication or role, and for dry runs that a policy denies, the first
 * entry is written at once; those of the same kind that follow become one line with their count, after a second without
 * another.
 */
export function burstAudit(audit: Audit, clock: Pick<Clock, 'monotonic' | 'after'>): Audit & { flush(): void } {
  const bursts = new Map<string, Burst>();

  function write(entry: AuditEntry): void {
    if (!isTurnedAway(entry)) return audit.write(entry);
    const key = bursts.size < MOST_BURSTS || bursts.has(kindOf(entry)) ? kindOf(entry) : entry.outcome;
    const burst = bursts.get(key);
    if (burst === undefined) return begin(key, entry);
    burst.last = entry;
    burst.more += 1;
    burst.lastAt = clock.monotonic();
  }

  function begin(key: string, entry: AuditEntry): void {
    audit.write(entry);
    const now = clock.monotonic();
    bursts.set(key, { last: null, more: 0, startedAt: now, lastAt: now });
    clock.after(QUIET_MS, () => look(key));
  }

  function look(key: string): void {
    const burst = bursts.get(key);
    if (burst === undefined) return;
    const now = clock.monotonic();
    const quiet = now - burst.lastAt >= QUIET_MS;
    if (quiet || now - burst.startedAt >= LONGEST_MS) tell(burst, now);
    if (quiet) bursts.delete(key);
    else clock.after(QUIET_MS, () => look(key));
  }

  function tell(burst: Burst, now: number): void {
    if (burst.last !== null) audit.write({ ...burst.last, times: burst.more });
    Object.assign(burst, { last: null, more: 0, startedAt: now });
  }

  return {
    write,
    /** At the end: writes the pending entries. */
    flush() {
      for (const burst of bursts.values()) tell(burst, clock.monotonic());
      bursts.clear();
    },
  };
}

function isTurnedAway({ action, outcome }: AuditEntry): boolean {
  return outcome === 'unauthenticated' || outcome === 'forbidden' || action === 'dry_run';
}

function kindOf({ action, principal, remote, outcome }: AuditEntry): string {
  return JSON.stringify([action, principal, remote, outcome]);
}
