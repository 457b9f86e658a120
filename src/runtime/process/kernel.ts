/** What the kernel says about processes. Layout of /proc/PID/stat: proc(5). */

import { readdirSync, readFileSync } from 'node:fs';
import { readFile, readlink } from 'node:fs/promises';

/** One process that runs, or stands still. */
export interface LiveProcess {
  readonly pid: number;
  readonly session: number;
  /** When it began, in clock ticks since boot: with its pid, no other process of this boot is ever called the same. */
  readonly startTicks: string;
}

/**
 * The name of this run of the kernel, and of the numbers that it gives to processes: the boot's id and the pid namespace.
 * Pids of another boot are nobody's, and those of another namespace say nothing here. Rejects where /proc does not tell.
 */
export async function kernelName(): Promise<string> {
  const bootId = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim().replaceAll('-', '');
  const namespace = /\[(\d+)\]/.exec(await readlink('/proc/self/ns/pid'))?.[1];
  if (!/^[0-9a-f]{32}$/.test(bootId) || namespace === undefined) {
    throw new Error(`expected a boot id and a pid namespace in /proc, got ${JSON.stringify({ bootId, namespace })}`);
  }
  return `${bootId}-${namespace}`;
}

/** Whether two such names are of the same boot. */
export function sameBoot(one: string, other: string): boolean {
  return one.split('-')[0] === other.split('-')[0];
}

/**
 * The process of this pid; null where there is none, or one that is dead and only not yet reaped. At once and not in a thread:
 * the kernel answers for `stat` from memory, also of a process that is stuck in a driver.
 */
export function liveProcess(pid: number): LiveProcess | null {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    // There is none, or it ended just now.
    return null;
  }
}

/** Exported for its test. The second field, the program's name, may hold spaces and brackets. */
export function parseStat(stat: string): LiveProcess | null {
  const pid = Number.parseInt(stat, 10);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, session, threads, startTicks] = [fields[0], fields[3], fields[17], fields[19]];
  if (state === undefined || startTicks === undefined || !Number.isSafeInteger(pid)) return null;
  // A program whose first thread has ended looks like a zombie, and its other threads run on.
  const dead = (state === 'Z' || state === 'X') && Number(threads) <= 1;
  return dead ? null : { pid, session: Number(session), startTicks };
}

/** Every process that can be seen. */
export function liveProcesses(): readonly LiveProcess[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => liveProcess(Number(pid))).filter((process) => process !== null);
}
