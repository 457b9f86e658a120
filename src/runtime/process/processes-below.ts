/** The processes of the pid namespaces below our own, as /proc shows them here. */

import { readFileSync, readlinkSync } from 'node:fs';
import { namespaceIn, parseNumbers, parseStat, pidsShown, type Numbers } from './kernel.js';

/** One of them that runs, or stands still. */
export interface ProcessBelow extends Numbers {
  /** What it is called here; its other names are in `pids`, the last of them in its own namespace. */
  readonly pid: number;
  readonly startTicks: string;
  /** The inode number of its namespace; null where we may not ask for it (ptrace(2), PTRACE_MODE_READ_FSCREDS). */
  readonly namespace: string | null;
}

export interface View {
  readonly below: readonly ProcessBelow[];
  /** False where a process may have been hidden from us. */
  readonly whole: boolean;
}

/**
 * Looks once at every process. A process is visible in its own pid namespace and in each that this one lies in, and in no
 * other: pid_namespaces(7). So what lies beside or above ours is never in here. At once and not in a thread, for the reason that
 * `liveProcess` has.
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
 * Whether /proc is mounted so that it keeps processes of others back (`hidepid`, proc(5)), going by /proc/self/mountinfo. What
 * does not tell hides. Exported for its test.
 */
export function hidesProcesses(mountinfo: string): boolean {
  const mounts = mountinfo.split('\n').filter((line) => line.split(' ')[4] === '/proc');
  const options = mounts.flatMap((line) => (line.split(' - ')[1]?.split(' ')[2] ?? '').split(','));
  return mounts.length === 0 || options.some((option) => /^hidepid=(?!0$|off$)/.test(option));
}
