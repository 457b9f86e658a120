/** One PCI slot as the kernel, the driver and nvidia-smi write it. */

/**
 * Domain, bus and device of an address in any of its forms (`00000000:4E:00.0`, `PCI:0000:4e:00`, `GPU0000:4E:00.0`), in one form
 * that can be compared: `0:4e:00`. The function is left out: the kernel's Xid lines do not have it. Null where there is no address.
 */
export function busSlot(text: string): string | null {
  const found = /(?:([0-9a-f]{1,8}):)?([0-9a-f]{2}):([0-9a-f]{2})(?:\.[0-9a-f])?$/i.exec(text.trim());
  if (found === null) return null;
  const [, domain = '0', bus = '', device = ''] = found;
  return `${domain.replace(/^0+(?=.)/, '')}:${bus}:${device}`.toLowerCase();
}
