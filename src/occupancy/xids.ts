/** Whether the kernel's log has an Xid against a card. */

import { busSlot } from '../model/bus-address.js';
import type { Snapshot } from '../model/snapshot.js';
import { xidInWords } from '../model/xid.js';
import type { Verdict } from './column-findings.js';
import type { KnownCard } from './known-cards.js';

/**
 * By the uuid of the card that had the address when it happened, and by the address where none was known: one that has fallen off
 * the bus is found by what is remembered of it. Where the log cannot be read, what was found before stands, and nothing else is
 * said.
 */
export function xidFinding(
  card: KnownCard,
  { kernel, xids = [] }: Pick<Snapshot, 'kernel' | 'xids'>,
): { readonly xid?: Verdict } {
  const slot = card.pciBusId === null ? null : busSlot(card.pciBusId);
  const found = xids.filter((xid) => (xid.uuid === null ? xid.slot === slot : xid.uuid === card.uuid));
  if (found.length === 0) return kernel.kind === 'seen' ? { xid: false } : {};
  const words = found.map(({ code, line }) => `${xidInWords(code)}: ${line}`);
  return { xid: words.join('; ') };
}
