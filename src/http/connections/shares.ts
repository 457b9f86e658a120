/** How many connections each listener may have, leaving enough descriptors for everything else. */

import { readFileSync } from 'node:fs';

/** The most connections at a time on each address of a listener. */
export interface Shares {
  readonly main: number;
  readonly metrics: number;
}

/**
 * More than anybody needs, so that a crowd finds room: who is cut off comes again, and each coming costs more than a silent connection,
 * which takes about 5 KB, or 15 KB once it has sent something.
 */
const MAIN = 4096;
const METRICS = 2560;
/** Connections on the main listener besides those of waiting admissions. */
const BESIDE_WAITING = 128;

/**
 * Divides the descriptors: at most half for the main listener and an eighth for the metrics listener; the rest is for probes, Docker,
 * Redis and files. A full listener does not affect the other one.
 */
export function connectionShares(
  descriptors: number,
  {
    maxWaiting,
    mainAddresses,
    metricsAddresses,
  }: { maxWaiting: number; mainAddresses: number; metricsAddresses: number },
): Shares {
  const wanted = Math.max(MAIN, maxWaiting + BESIDE_WAITING);
  return {
    main: atLeastOne(Math.min(wanted, descriptors / 2 / mainAddresses)),
    metrics: atLeastOne(Math.min(METRICS, descriptors / 8 / Math.max(1, metricsAddresses))),
  };
}

function atLeastOne(share: number): number {
  return Math.max(1, Math.floor(share));
}

/** How many descriptors this process may have open. Node raises the soft limit to the hard one when it starts. */
export function descriptorLimit(limits = readFileSync('/proc/self/limits', 'utf8')): number {
  const soft = /^Max open files\s+(\S+)/m.exec(limits)?.[1];
  return soft === undefined || soft === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(soft);
}
