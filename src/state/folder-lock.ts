/** Keeps two gates from using one state folder. */

import { spawnSync } from 'node:child_process';
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export type FolderLock =
  | { readonly kind: 'ours'; unlock(): Promise<void> }
  | { readonly kind: 'taken' }
  /** The lock could not be tried; `detail` says why. */
  | { readonly kind: 'failed'; readonly detail: string };

/** The locked file. It is never deleted: otherwise two gates could each hold a file of this name. */
export function lockFile(folder: string): string {
  return join(folder, 'lock');
}

/** util-linux's program; a service may have a PATH without it. */
const FLOCK = ['flock', '/usr/bin/flock', '/bin/flock'];

/** The doctor holds a shared lock for a moment. */
const TRIES = 4;
const BETWEEN_TRIES_MS = 100;

/**
 * Locks a file in the folder (flock(2)). The lock belongs to the open file, which the program shares for a moment and only
 * this process keeps; so it ends with the process, however that ends, and works across namespaces: two containers with one
 * folder exclude each other. Only a user who may write to the folder can take it.
 */
export async function lockFolder(folder: string, programs = FLOCK): Promise<FolderLock> {
  const path = lockFile(folder);
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600);
  } catch (error) {
    return { kind: 'failed', detail: `${path} cannot be opened: ${(error as Error).message}` };
  }
  for (let tried = 1; ; tried += 1) {
    const outcome = flock(file, '--exclusive', programs);
    if (outcome === 'ours') return { kind: 'ours', unlock: () => file.close() };
    if (outcome === 'taken' && tried < TRIES) {
      await pause(BETWEEN_TRIES_MS);
      continue;
    }
    await file.close();
    return outcome === 'taken' ? { kind: 'taken' } : { kind: 'failed', detail: `${path} cannot be locked: ${outcome}` };
  }
}

/** Whether a live gate holds the folder. Leaves it as it is. */
export async function isLocked(folder: string, programs = FLOCK): Promise<boolean> {
  const file = await open(lockFile(folder), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => null,
  );
  if (file === null) return false;
  const outcome = flock(file, '--shared', programs);
  await file.close();
  return outcome === 'taken';
}

/** The reason if it could not be tried. */
function flock(file: FileHandle, how: '--exclusive' | '--shared', programs: readonly string[]): string {
  for (const program of programs) {
    // Short forms: BusyBox knows no others.
    const args = ['-n', how === '--shared' ? '-s' : '-x', '3'];
    const ran = spawnSync(program, args, { stdio: ['ignore', 'ignore', 'pipe', file.fd], timeout: 5000 });
    if (ran.error !== undefined && 'code' in ran.error && ran.error.code === 'ENOENT') continue;
    if (ran.status === 0) return 'ours';
    if (ran.status === 1) return 'taken';
    return ran.error?.message ?? (ran.stderr.toString().trim() || `flock ended with ${ran.status ?? ran.signal}`);
  }
  return 'the program flock (of util-linux) is not installed';
}
