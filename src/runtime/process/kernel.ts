/** What the kernel reports about processes. Format of /proc/PID/stat and /proc/PID/status: proc(5). */

import { readdirSync, readFileSync } from 'node:fs';
import { readFile, readlink } from 'node:fs/promises';

/** One process that is not dead, running or stopped. */
export interface LiveProcess {
  readonly pid: number;
  readonly session: number;
  /** When it started, in clock ticks since boot: unique together with its pid during this boot. */
  readonly startTicks: string;
}

/**
 * Identifies the scope of pids: the boot id and the pid namespace. A pid from another boot means nothing, and one from
 * another namespace means something else here. Rejects where /proc does not show it, and where /proc belongs to another
 * namespace than ours (`unshare --pid` without `--mount-proc`): each pid that we looked up there would be another process.
 */
export async function kernelName(): Promise<string> {
  const bootId = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim().replaceAll('-', '');
  const namespace = namespaceIn(await readlink('/proc/self/ns/pid'));
  if (!/^[0-9a-f]{32}$/.test(bootId) || namespace === null) {
    throw new Error(`expected a boot id and a pid namespace in /proc, got ${JSON.stringify({ bootId, namespace })}`);
  }
  const { pids } = parseNumbers(await readFile('/proc/self/status', 'utf8'));
  if (pids.length !== 1) {
    throw new Error(
      `expected the /proc of the pid namespace that this process is in, got that of another, where its pid is ${pids[0]}; mount it anew, as unshare --mount-proc does`,
    );
  }
  return `${bootId}-${namespace}`;
}

/** Whether two such scopes are of the same boot. */
export function sameBoot(one: string, other: string): boolean {
  return one.split('-')[0] === other.split('-')[0];
}

/** The pid namespace in such a scope, by its inode number. */
export function namespaceOf(kernel: string): string {
  return kernel.slice(kernel.indexOf('-') + 1);
}

/** The same from the target of a link like /proc/PID/ns/pid: `pid:[4026531836]`. */
export function namespaceIn(link: string): string | null {
  return /^pid:\[(\d+)\]$/.exec(link)?.[1] ?? null;
}

/**
 * The process of this pid; null where there is none, or only a zombie. Synchronous: the kernel answers `stat` from memory,
 * even for a process that is stuck in a driver.
 */
export function liveProcess(pid: number): LiveProcess | null {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    // There is none, or it ended just now.
    return null;
  }
}

/** Exported for its test. The second field, the program's name, may contain spaces and brackets. */
export function parseStat(stat: string): LiveProcess | null {
  const pid = Number.parseInt(stat, 10);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, session, threads, startTicks] = [fields[0], fields[3], fields[17], fields[19]];
  if (state === undefined || startTicks === undefined || !Number.isSafeInteger(pid)) return null;
  // A program whose first thread has ended looks like a zombie while its other threads run on.
  const dead = (state === 'Z' || state === 'X') && Number(threads) <= 1;
  return dead ? null : { pid, session: Number(session), startTicks };
}

/** The pids of a process, from the namespace of /proc down to its own. */
export interface Numbers {
  readonly pids: readonly number[];
  /** 0 where the session began in a namespace further up. */
  readonly sessions: readonly number[];
}

/** From the lines `NSpid` and `NSsid` of /proc/PID/status, present since Linux 4.1; empty without them. */
export function parseNumbers(status: string): Numbers {
  return { pids: numbersIn(/^NSpid:((?:\t\d+)+)$/m, status), sessions: numbersIn(/^NSsid:((?:\t\d+)+)$/m, status) };
}

function numbersIn(line: RegExp, status: string): readonly number[] {
  return (line.exec(status)?.[1] ?? '').split('\t').slice(1).map(Number);
}

/** All pids that /proc shows. */
export function pidsShown(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Every visible process. */
export function liveProcesses(): readonly LiveProcess[] {
  return pidsShown()
    .map(liveProcess)
    .filter((process) => process !== null);
}
