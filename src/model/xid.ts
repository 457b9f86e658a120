/**
 * What the driver's Xid codes mean for a card, each with the source of its verdict. Facts from NVIDIA; the wording is ours.
 */

/**
 * `hardware`: the card or its link is broken, or needs a reset before it works again: it excludes the card unless a setting
 * says otherwise. `application`: the program on the card caused an error, or another error ended it; the card is fine.
 */
export type XidVerdict = 'hardware' | 'application';

/**
 * `catalog`: NVIDIA's Xid catalogue asks for a reset, a restart of the machine, a look at the cables or its support at once
 * (https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html). `plugin`: NVIDIA's own device plugin for Kubernetes keeps
 * a card in use after it (https://github.com/NVIDIA/k8s-device-plugin, `ignoredXids`).
 */
export type XidSource = 'catalog' | 'plugin';

export interface XidCode {
  readonly code: number;
  readonly what: string;
  readonly verdict: XidVerdict;
  readonly source: XidSource;
}

const hardware = (code: number, what: string): XidCode => ({ code, what, verdict: 'hardware', source: 'catalog' });
const application = (code: number, what: string, source: XidSource): XidCode => ({
  code,
  what,
  verdict: 'application',
  source,
});

/** The codes with a verdict, in order; all others are counted and mean nothing for the card. */
export const XID_CODES: readonly XidCode[] = [
  application(13, 'exception of a program on the card', 'plugin'),
  application(31, 'page fault: a program reached for memory that it does not have', 'plugin'),
  application(43, 'a program was stopped by an error of its own', 'plugin'),
  application(45, 'what is left of a program was cleaned up after another error', 'plugin'),
  hardware(46, 'the card stopped working'),
  hardware(48, 'an ECC error that could not be corrected'),
  hardware(54, 'the auxiliary power is not connected'),
  hardware(62, 'the controller of the card halted'),
  application(63, 'a bad memory row was remapped, or a page retired, as it should be', 'catalog'),
  hardware(64, 'a bad memory row could not be remapped, or a page not retired'),
  application(68, 'exception of the video decoder', 'plugin'),
  hardware(74, 'error of an NVLink'),
  hardware(79, 'the card has fallen off the bus'),
  application(94, 'a memory error that ended the program which met it, and no other', 'catalog'),
  hardware(95, 'a memory error that could not be kept to one program'),
  application(109, 'a program did not let go of the card in time', 'plugin'),
  hardware(110, 'security fault'),
  hardware(119, 'the system processor of the card did not answer'),
  hardware(120, 'error of the system processor of the card'),
  hardware(136, 'an NVLink could not be trained'),
  hardware(140, 'an ECC error that could not be recovered from'),
  hardware(143, 'the card could not be initialized'),
  hardware(155, 'an NVLink was taken down by software'),
  hardware(158, 'the card ran into a time limit that it cannot recover from'),
];

/** The default of `TUNEPLANE_XID_FATAL`. */
export const FATAL_XIDS: readonly number[] = XID_CODES.filter(({ verdict }) => verdict === 'hardware').map(
  ({ code }) => code,
);

/** For a person: `Xid 79 (the card has fallen off the bus)`. */
export function xidInWords(code: number): string {
  const known = XID_CODES.find((each) => each.code === code);
  return known === undefined ? `Xid ${code}` : `Xid ${code} (${known.what})`;
}

/**
 * An Xid that excludes its card, from the kernel's log. Kept until a new boot, a reload of the driver, or an operator's
 * command.
 */
export interface XidFinding {
  /** The card at the address when it happened; null where none was known there. */
  readonly uuid: string | null;
  /** In the form of `busSlot`. */
  readonly slot: string;
  readonly code: number;
  /** The kernel's line, shortened. */
  readonly line: string;
}
