/** The audit: one JSON line per decision, appended to a file or written to standard output. Values of env are never in it. */

import { appendFileSync } from 'node:fs';
import type { Audit, AuditEntry } from '../model/ports/audit.js';
import type { Log } from '../model/ports/outside.js';
import { plainJson } from '../text/plain.js';

/**
 * Opens the audit; throws when the file cannot be appended to. It is opened anew for every line, so that a rotated file is never
 * written on, and a line is written in one call, so that two gates can share a file. A line that cannot be written later is logged
 * with all that would have been in it: the decision has been made and cannot be taken back.
 */
export function openAudit(path: string | null, log: Log): Audit {
  if (path === null) return { write: (entry) => void process.stdout.write(lineOf(entry)) };
  appendFileSync(path, '', { mode: 0o640 });
  return {
    write(entry) {
      try {
        appendFileSync(path, lineOf(entry), { mode: 0o640 });
      } catch (error) {
        log.error({ err: error, path, entry }, 'an audit line could not be written');
      }
    },
  };
}

function lineOf(entry: AuditEntry): string {
  const line = {
    audit: entry.action,
    at: entry.at,
    principal: entry.principal,
    remote: entry.remote,
    run_id: entry.runId,
    outcome: entry.outcome,
    detail: entry.detail,
    count: entry.count,
    image: entry.image,
    cards: entry.cards,
    container_id: entry.containerId,
    took_ms: entry.tookMs,
  };
  return `${plainJson(line)}\n`;
}
