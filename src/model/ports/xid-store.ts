/** What is kept of the kernel's log over a restart of the gate: the log is a ring that is then read again. */

import type { XidFinding } from '../xid.js';

export interface XidRecord {
  /** The boot that it is of; under another one it is worth nothing. */
  readonly bootId: string;
  /** The last record that was taken in, as the kernel counts; -1: none. */
  readonly upTo: number;
  readonly findings: readonly XidFinding[];
}

export interface XidStore {
  load(): XidRecord | null;
  /** Never throws: what cannot be written is logged and kept in memory. */
  save(record: XidRecord): void;
}
