/** The processes of the pid namespaces below our own, as /proc shows them here. */

import { readFileSync, readlinkSync } from 'node:fs';
import { namespaceIn, parseNumbers, parseStat, pidsShown, type Numbers } from './kernel.js';

/** One of them that is not dead, running or stopped. */
export interface ProcessBelow extends Numbers {
  /** Its pid here; its other pids are in `pids`, the last of them in its own namespace. */
  readonly pid: number;
  readonly startTicks: string;
  /** The inode number of its namespace; null where we may not read it (ptrace(2), PTRACE_MODE_READ_FSCREDS). */
  readonly namespace: string | null;
}

export interface View {
  readonly below: readonly ProcessBelow[];
  /** False where processes may have been hidden from us. */
  readonly whole: boolean;
}

/**
 * Scans every process once. A process is visible in its own pid namespace and in each ancestor of it, and in no other:
 * pid_namespaces(7). So namespaces beside or above ours never appear here. Synchronous, for the same reason as
 * `liveProcess`.
 */
export function lookBelow(): View {
  const below: ProcessBelow[] = [];
  let whole = !hidesProcesses(readFileSync('/proc/self/mountinfo', 'utf8'));
  for (const pid of pidsShown()) {
    const seen = processBelow(pid);
    if (seen === 'hidden') whole = false;
    else if (seen !== null) below.push(seen);
  }
  return { below, whole };
}

/** Null for one of our own namespace, and for one that has ended. */
function processBelow(pid: number): ProcessBelow | 'hidden' | null {
  try {
    const live = parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    if (live === null) return null;
    const numbers = parseNumbers(readFileSync(`/proc/${pid}/status`, 'utf8'));
    if (numbers.pids.length === 0) return 'hidden';
    if (numbers.pids.length === 1) return null;
    return { ...numbers, pid, startTicks: live.startTicks, namespace: namespaceOfProcess(pid) };
  } catch (error) {
    return ['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '') ? null : 'hidden';
  }
}

function namespaceOfProcess(pid: number): string | null {
  try {
    return namespaceIn(readlinkSync(`/proc/${pid}/ns/pid`));
  } catch {
    return null;
  }
}

/**
 * Whether /proc is mounted with `hidepid` (proc(5)), which hides other users' processes, by /proc/self/mountinfo. In doubt,
 * it hides them. Exported for its test.
 */
export function hidesProcesses(mountinfo: string): boolean {
  const mounts = mountinfo.split('\n').filter((line) => line.split(' ')[4] === '/proc');
  const options = mounts.flatMap((line) => (line.split(' - ')[1]?.split(' ')[2] ?? '').split(','));
  return mounts.length === 0 || options.some((option) => /^hidepid=(?!0$|off$)/.test(option));
}
