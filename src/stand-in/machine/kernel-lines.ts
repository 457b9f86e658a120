/** What the driver writes into the kernel's log, as `/dev/kmsg` gives it. */

import type { Card } from './machine.js';

/** The lines of one boot: each call gives the next record, whole and with its line break. */
export function createKernelLines(): {
  /** `words` follow the code: `pid=1896, name=python, Ch 00000010`. */
  xid(card: Pick<Card, 'bus_id'>, code: number, words: string): string;
  driverLoaded(version: string): string;
} {
  let sequence = 1000;
  const record = (text: string): string => {
    sequence += 1;
    return `4,${sequence},${sequence * 1_000_000},-;${text}\n`;
  };
  return {
    // With four digits of the domain and without the function, in lower case.
    xid: ({ bus_id: bus }, code, words) =>
      record(`NVRM: Xid (PCI:${bus.slice(4).toLowerCase().replace(/\.\d$/, '')}): ${code}, ${words}`),
    driverLoaded: (version) => record(`NVRM: loading NVIDIA UNIX x86_64 Kernel Module  ${version}  Release Build`),
  };
}
