/** How much memory a container may lock on this machine: pinned transfers to a card need it. */

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** No limit, as a ulimit's value. */
export const UNLIMITED = -1;

/**
 * How many bytes of memory this machine's Docker can let a container lock: `UNLIMITED`, or where the daemon itself may not
 * raise limits (rootless, or inside a container without CAP_SYS_RESOURCE) its own hard limit. There, a container that asks
 * for more is created and then cannot start: "error setting rlimit type 8: operation not permitted" (measured). Where no
 * daemon is visible, `UNLIMITED` is assumed.
 */
export async function lockedMemoryLimit(procFolder = '/proc'): Promise<number> {
  const pids = (await readdir(procFolder).catch(() => [])).filter((name) => /^\d+$/.test(name));
  const limits = await Promise.all(pids.map((pid) => limitOfDaemon(join(procFolder, pid))));
  const known = limits.filter((limit) => limit !== null);
  // Ours is one of several daemons. Asking for too much and getting an error is better than limiting every job.
  return known.length === 0 || known.includes(UNLIMITED) ? UNLIMITED : Math.max(...known);
}

/** Null where the process is not dockerd, or has ended. */
async function limitOfDaemon(folder: string): Promise<number | null> {
  try {
    if ((await readFile(join(folder, 'comm'), 'utf8')).trim() !== 'dockerd') return null;
    const [status, limits] = await Promise.all([
      readFile(join(folder, 'status'), 'utf8'),
      readFile(join(folder, 'limits'), 'utf8'),
    ]);
    const capabilities = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? ''}`);
    if ((capabilities & CAP_SYS_RESOURCE) !== 0n) return UNLIMITED;
    const hard = /^Max locked memory\s+\S+\s+(\S+)/m.exec(limits)?.[1];
    return hard === undefined || hard === 'unlimited' ? UNLIMITED : Number(hard);
  } catch {
    return null;
  }
}

/** capabilities(7): bit 24. */
const CAP_SYS_RESOURCE = 1n << 24n;
