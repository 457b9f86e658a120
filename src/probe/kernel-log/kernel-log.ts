/** The Xids in the kernel's log: which cards they exclude, and how many there were. */

import { sayOnce } from '../../log/say-once.js';
import { busSlot } from '../../model/bus-address.js';
import type { CardUuid } from '../../model/card.js';
import type { Clock, Log } from '../../model/ports/outside.js';
import type { XidRecord, XidStore } from '../../model/ports/xid-store.js';
import type { Off, Probed, RememberedCard } from '../../model/snapshot.js';
import { xidInWords, type XidFinding } from '../../model/xid.js';
import { plainWithin } from '../../text/plain.js';
import { createNvrmParser, type NvrmEvent } from './parse-nvrm.js';
import { parseRecord } from './parse-record.js';
import { openLog, type OpenLog } from './read-lines.js';

export interface KernelLogParts {
  /** `TUNEPLANE_KERNEL_LOG`; null: off. */
  readonly path: string | null;
  /** `TUNEPLANE_XID_FATAL`: the codes that exclude a card. */
  readonly fatal: readonly number[];
  /** A value that changes with each boot. */
  readonly bootId: string;
  readonly store: XidStore;
  /** Called once for each Xid, also across restarts; uuid null where no card is known at that address. */
  readonly onXid: (uuid: CardUuid | null, code: number) => void;
  /** Called each time that the kernel overwrote records before they were read. */
  readonly onGap: () => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly open?: typeof openLog;
}

export interface KernelLog {
  /**
   * Reads new records, without waiting. `cards` are the currently known ones, for their addresses; processes nothing until
   * there are some.
   */
  look(cards: readonly RememberedCard[]): { readonly kernel: Probed<null> | Off; readonly xids: readonly XidFinding[] };
  /** An operator says that the card is fine: returns whether it had any Xid. */
  clear(uuid: CardUuid): boolean;
  close(): void;
}

const LONGEST_LINE = 300;
/** How often the log is read between looks, so that the ring buffer does not overtake the reader. */
const EVERY_MS = 2000;
/** A kernel that floods its log would flood ours. */
const GAP_AGAIN_AFTER_MS = 3_600_000;
/** After a failure. */
const AGAIN_AFTER_MS = 60_000;

export function createKernelLog(parts: KernelLogParts): KernelLog {
  const { path, clock, log, bootId, open: openPath = openLog } = parts;
  const warnOfGap = sayOnce(clock, GAP_AGAIN_AFTER_MS, (sentence) => log.warn({ path }, sentence));
  const kept = parts.store.load();
  let record: XidRecord = kept?.bootId === bootId ? kept : { bootId, upTo: -1, findings: [] };
  const parse = createNvrmParser();
  let open: OpenLog | null = null;
  let state: Probed<null> | Off = { kind: 'off' };
  let triedAt = Number.NEGATIVE_INFINITY;
  let cancel: (() => void) | null = null;
  let cards: readonly RememberedCard[] = [];

  return {
    look: (known) => {
      cards = known;
      look();
      if (path !== null && cancel === null) again();
      return { kernel: state, xids: record.findings };
    },
    clear: (uuid) => {
      const slots = new Set(cards.filter((card) => card.uuid === uuid).map((card) => busSlot(card.pciBusId)));
      const findings = record.findings.filter(
        (each) => each.uuid !== uuid && !(each.uuid === null && slots.has(each.slot)),
      );
      const changed = findings.length < record.findings.length;
      if (changed) keep({ ...record, findings });
      return changed;
    },
    close: () => {
      cancel?.();
      open?.close();
      open = null;
    },
  };

  function again(): void {
    cancel = clock.after(EVERY_MS, () => {
      look();
      again();
    });
  }

  function look(): void {
    if (path === null) return;
    const began = clock.monotonic();
    if (open === null && began - triedAt < AGAIN_AFTER_MS) return;
    triedAt = began;
    try {
      open ??= openPath(path);
      if (cards.length === 0) return;
      const { lines, gaps } = open.read();
      for (let gap = 0; gap < gaps; gap += 1) parts.onGap();
      if (gaps > 0) warnOfGap(`${path}: the kernel wrote more than could be read; some lines are lost`);
      takeIn(lines);
      state = { kind: 'seen', value: null, tookMs: clock.monotonic() - began };
    } catch (error) {
      fail(path, error as NodeJS.ErrnoException);
    }
  }

  /** Never opened: the kernel's log is not accessible here, as is usual in a container. Lost while open: a failed probe. */
  function fail(from: string, error: NodeJS.ErrnoException): void {
    const detail = `${from} cannot be read: ${error.message}`;
    if (open === null) {
      if (state.kind !== 'off' || state.detail === undefined) log.info({ path: from }, `${detail}; Xids are not seen`);
      state = { kind: 'off', detail };
      return;
    }
    state = { kind: 'blind', why: 'unavailable', detail, tookMs: 0 };
    open.close();
    open = null;
  }

  function takeIn(lines: readonly string[]): void {
    let { upTo, findings } = record;
    let events = 0;
    for (const line of lines) {
      const read = parseRecord(line);
      const event = read === null ? null : parse(read.text);
      if (read === null || event === null || (read.order !== null && read.order <= upTo)) continue;
      events += 1;
      upTo = read.order ?? upTo;
      findings = after(event, read.text, findings);
    }
    if (events > 0) keep({ ...record, upTo, findings });
  }

  function after(event: NvrmEvent, text: string, before: readonly XidFinding[]): readonly XidFinding[] {
    if (event.kind === 'driver_loaded') return [];
    const { slot } = event;
    const code = event.kind === 'xid' ? event.code : FALLEN_OFF;
    const same = before.find((each) => each.slot === slot && each.code === code);
    // The module logs some errors twice, with and without an Xid.
    if (event.kind === 'fallen_off' && same !== undefined) return before;
    const uuid = cards.find((card) => busSlot(card.pciBusId) === slot)?.uuid ?? null;
    parts.onXid(uuid, code);
    if (!parts.fatal.includes(code)) return before;
    const line = plainWithin(text, LONGEST_LINE);
    log.warn({ slot, uuid, code, line }, `${xidInWords(code)} of the card at ${slot}`);
    return [...before.filter((each) => each !== same), { uuid, slot, code, line }];
  }

  function keep(next: XidRecord): void {
    record = next;
    parts.store.save(next);
  }
}

const FALLEN_OFF = 79;
