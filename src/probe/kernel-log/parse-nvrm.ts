/** Parses a line of NVIDIA's kernel module. */

import { busSlot } from '../../model/bus-address.js';

export type NvrmEvent =
  | { readonly kind: 'xid'; readonly slot: string; readonly code: number }
  /** Logged without an Xid; its code is 79. */
  | { readonly kind: 'fallen_off'; readonly slot: string }
  /** The kernel module was loaded: earlier errors are over, or will be logged again. */
  | { readonly kind: 'driver_loaded' };

/** `NVRM: Xid (PCI:0000:05:00): 79, pid=…`, of a slice `(PCI:0000:05:00 GPU-I:03): 31`, of old drivers `(0000:03:00): 14`. */
const XID = 'NVRM: Xid (';
const ADDRESS = /^(?:PCI:|GPU:? ?)?((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-9a-f])?)/i;
const CODE = /^: (\d{1,4})\b/;
/** What stands in the parentheses is never longer. */
const LONGEST_ADDRESS = 100;
/** `NVRM: GPU 0000:29:00.0: GPU has fallen off the bus.`, or over three lines `NVRM: The NVIDIA GPU 0000:18:00.0 … has fallen off`. */
const GPU = /NVRM: (?:The NVIDIA )?GPU (?:PCI:|GPU:? ?)?((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-9a-f])?)/i;
const FALLEN = /\bfallen off the bus\b/i;
const LOADED = /NVRM: loading NVIDIA UNIX\b/i;

/** The maximum number of lines of one message of the module. */
const TOGETHER = 3;

/** Parses line by line; a message may span several. Lines of other parts of the kernel give null. */
export function createNvrmParser(): (text: string) => NvrmEvent | null {
  let named: { readonly slot: string; readonly linesAgo: number } | null = null;
  return (text) => {
    if (!text.includes('NVRM:')) return null;
    if (LOADED.test(text)) return { kind: 'driver_loaded' };
    const xid = parseXid(text);
    if (xid !== null) return xid;
    const gpu = GPU.exec(text)?.[1];
    const here = gpu === undefined ? null : busSlot(gpu);
    if (here !== null) named = { slot: here, linesAgo: 0 };
    else if (named !== null) named = named.linesAgo + 1 < TOGETHER ? { ...named, linesAgo: named.linesAgo + 1 } : null;
    if (!FALLEN.test(text) || named === null) return null;
    const fallen = named.slot;
    named = null;
    return { kind: 'fallen_off', slot: fallen };
  };
}

function parseXid(text: string): NvrmEvent | null {
  const from = text.indexOf(XID);
  if (from === -1) return null;
  const inside = text.slice(from + XID.length, from + XID.length + LONGEST_ADDRESS);
  const end = inside.indexOf(')');
  const code = end === -1 ? undefined : CODE.exec(text.slice(from + XID.length + end + 1))?.[1];
  const slot = busSlot(ADDRESS.exec(inside)?.[1] ?? '');
  return code === undefined || slot === null ? null : { kind: 'xid', slot, code: Number(code) };
}
