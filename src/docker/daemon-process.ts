/** What the processes of the Docker daemons on this machine reveal and the engine's API does not. */

import { constants } from 'node:fs';
import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Probed } from '../model/snapshot.js';

/** The hook by which Docker before CDI gives cards to a container; looked up on the daemon's own PATH when it starts. */
const HOOK = 'nvidia-container-runtime-hook';

/** How many daemons this process can see: none where Docker runs on another machine or in another PID namespace. */
export async function daemonsSeen(procFolder = '/proc'): Promise<number> {
  return (await daemons(procFolder)).length;
}

/**
 * The path of the hook that the daemon behind this endpoint (`unix:///path`) uses; null where its PATH has none. Blind where
 * the daemon cannot be told from others or inspected, which takes its user or root.
 */
export async function findHook(endpoint: string, procFolder = '/proc'): Promise<Probed<string | null>> {
  const began = performance.now();
  const blind = (detail: string): Probed<never> => ({
    kind: 'blind',
    why: 'unavailable',
    detail,
    tookMs: performance.now() - began,
  });
  const all = await daemons(procFolder);
  const named = all.filter(({ commandLine }) => commandLine.some((word) => word.includes(endpoint)));
  const [daemon, ...others] = named.length > 0 ? named : all;
  if (daemon === undefined) return blind('no dockerd can be seen among the processes of this machine');
  if (others.length > 0)
    return blind(`${others.length + 1} daemons run here, and none says that it serves ${endpoint}`);
  const folders = await pathOf(daemon.folder);
  if (folders === null)
    return blind(`the environment of dockerd (pid ${daemon.pid}) can only be read by its user or root`);
  for (const folder of folders) {
    const inside = join(daemon.folder, 'root', folder, HOOK);
    const there = await access(inside, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (there) return { kind: 'seen', value: join(folder, HOOK), tookMs: performance.now() - began };
  }
  return { kind: 'seen', value: null, tookMs: performance.now() - began };
}

/** The default folder of a daemon's run-time files. */
const EXEC_ROOT = '/var/run/docker';
const CONFIG_FILE = '/etc/docker/daemon.json';

/**
 * The exec root of each visible daemon: no job may access any of them, so it does not matter which is ours. Blind where none
 * is visible, or where one's configuration is unreadable.
 */
export async function daemonExecRoots(procFolder = '/proc'): Promise<Probed<readonly string[]>> {
  const began = performance.now();
  const all = await daemons(procFolder);
  const roots = await Promise.all(all.map(({ commandLine }) => execRootOf(commandLine)));
  const known = roots.filter((root) => root !== null);
  const tookMs = performance.now() - began;
  if (known.length === all.length && all.length > 0) return { kind: 'seen', value: known, tookMs };
  const unseen = 'no dockerd can be seen among the processes, and no container runs that would tell its exec root';
  const detail = all.length === 0 ? unseen : 'the configuration of dockerd cannot be read, so its exec root is unknown';
  return { kind: 'blind', why: 'unavailable', detail, tookMs };
}

/** Reads the flag first, then the file; Docker refuses to start with both. Null where the file is invalid. */
async function execRootOf(commandLine: readonly string[]): Promise<string | null> {
  const byFlag = flagIn(commandLine, 'exec-root');
  if (byFlag !== null) return byFlag;
  const named = flagIn(commandLine, 'config-file');
  try {
    const config = JSON.parse(await readFile(named ?? CONFIG_FILE, 'utf8')) as { 'exec-root'?: unknown } | null;
    const said = config?.['exec-root'];
    return typeof said === 'string' ? said : EXEC_ROOT;
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return missing && named === null ? EXEC_ROOT : null;
  }
}

/** `--name=value` or `--name value`. */
function flagIn(commandLine: readonly string[], name: string): string | null {
  const at = commandLine.findIndex((word) => word === `--${name}` || word.startsWith(`--${name}=`));
  const word = commandLine[at];
  if (word === undefined) return null;
  return word.includes('=') ? word.slice(word.indexOf('=') + 1) : (commandLine[at + 1] ?? null);
}

interface Daemon {
  readonly pid: string;
  /** Its folder in /proc. */
  readonly folder: string;
  readonly commandLine: readonly string[];
}

async function daemons(procFolder: string): Promise<readonly Daemon[]> {
  const pids = (await readdir(procFolder).catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => daemonAt(pid, join(procFolder, pid))));
  return found.filter((daemon) => daemon !== null);
}

async function daemonAt(pid: string, folder: string): Promise<Daemon | null> {
  try {
    if ((await readFile(join(folder, 'comm'), 'utf8')).trim() !== 'dockerd') return null;
    return { pid, folder, commandLine: (await readFile(join(folder, 'cmdline'), 'utf8')).split('\0') };
  } catch {
    return null;
  }
}

async function pathOf(folder: string): Promise<readonly string[] | null> {
  try {
    const environment = (await readFile(join(folder, 'environ'), 'utf8')).split('\0');
    const path = environment.find((each) => each.startsWith('PATH='))?.slice('PATH='.length) ?? '';
    return path.split(':').filter((each) => each.startsWith('/'));
  } catch {
    return null;
  }
}
