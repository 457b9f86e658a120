/** Whether the kernel's log reports an Xid of a card. */

import { busSlot } from '../model/bus-address.js';
import type { Snapshot } from '../model/snapshot.js';
import { xidInWords } from '../model/xid.js';
import type { Verdict } from './column-findings.js';
import type { KnownCard } from './known-cards.js';

/**
 * Matched by the uuid of the card at the address when it happened, or by the address where none was known: a card that has
 * fallen off the bus is found by its remembered address. While the log is unreadable, earlier findings remain and no new
 * ones are added.
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
