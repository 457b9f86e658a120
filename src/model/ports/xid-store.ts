/** What is stored of the kernel's log across a restart of the gate, which then reads the ring buffer again. */

import type { XidFinding } from '../xid.js';

export interface XidRecord {
  /** The boot that it belongs to; under another boot it is worthless. */
  readonly bootId: string;
  /** The kernel's sequence number of the last processed record; -1: none. */
  readonly upTo: number;
  readonly findings: readonly XidFinding[];
}

export interface XidStore {
  load(): XidRecord | null;
  /** Never throws: if it cannot be written, logs that and keeps it in memory. */
  save(record: XidRecord): void;
}
