/**
 * The audit: one JSON line per decision, appended to a file or written to standard output. It never contains values of env.
 */

import { closeSync, constants, fstatSync, openSync, writeFileSync } from 'node:fs';
import { CannotStart } from '../model/cannot-start.js';
import type { Audit, AuditEntry } from '../model/ports/audit.js';
import type { Log } from '../model/ports/outside.js';
import { plainJson } from '../text/plain.js';

/**
 * Opens the audit; throws `CannotStart` when the file cannot be appended to. The file is reopened for every line, so that
 * log rotation works, and each line is one write, so that two gates can share a file. If a later line cannot be written, its
 * content goes to the log: the decision has been made and cannot be taken back.
 */
export function openAudit(path: string | null, log: Log): Audit {
  if (path === null) return { write: (entry) => void process.stdout.write(lineOf(entry)) };
  try {
    append(path, '');
  } catch (error) {
    throw new CannotStart(`TUNEPLANE_AUDIT_FILE: ${words(error)}`, { cause: error });
  }
  return {
    write(entry) {
      try {
        append(path, lineOf(entry));
      } catch (error) {
        log.error({ err: error, path, entry }, 'an audit line could not be written');
      }
    },
  };
}

/** Does not follow a link, which could lead anywhere, does not block on a pipe, and writes to regular files only. */
function append(path: string, text: string): void {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
  const file = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o640);
  try {
    if (!fstatSync(file).isFile())
      throw new Error(`${path} is no file; without a file the audit goes to standard output`);
    writeFileSync(file, text);
  } finally {
    closeSync(file);
  }
}

function words(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ELOOP') return `${message} (it is a link, which is not followed)`;
  return code === 'ENXIO' ? `${message} (it is a pipe, and only a file is written on)` : message;
}

function lineOf(entry: AuditEntry): string {
  const line = {
    audit: entry.action,
    at: entry.at,
    principal: entry.principal,
    delegate: entry.delegate,
    remote: entry.remote,
    run_id: entry.runId,
    outcome: entry.outcome,
    detail: entry.detail,
    count: entry.count,
    image: entry.image,
    cards: entry.cards,
    container_id: entry.containerId,
    took_ms: entry.tookMs,
    times: entry.times,
  };
  return `${plainJson(line)}\n`;
}
