/** Which folder holds the state: the configured one, or the first usable default. */

import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

export type UsableFolder =
  | {
      readonly kind: 'usable';
      readonly folder: string;
      readonly openToOthers: boolean;
    }
  | { readonly kind: 'unusable'; readonly detail: string };

/**
 * Where the state is kept if no folder is configured: the system's place, or for a user who may not write there, the user's
 * own (XDG base directory specification).
 */
export function defaultStateFolders(
  env: Readonly<Record<string, string | undefined>>,
  home = homedir(),
): readonly string[] {
  const xdg = env['XDG_STATE_HOME'];
  // The specification says to ignore a path that is not absolute.
  const userState = xdg?.startsWith('/') === true ? xdg : join(home, '.local', 'state');
  return ['/var/lib/tuneplane-gpu-gate', join(userState, 'tuneplane-gpu-gate')];
}

/**
 * The first of these folders that exists or can be created, and accepts a file. A new folder is for its owner only (0700);
 * the mode of an existing one stays, since it may be shared on purpose.
 */
export async function usableFolder(candidates: readonly string[]): Promise<UsableFolder> {
  const reasons: string[] = [];
  for (const folder of candidates) {
    try {
      await makeFolder(folder);
      await tryToWrite(folder);
      const { mode } = await stat(folder);
      return { kind: 'usable', folder, openToOthers: (mode & 0o022) !== 0 };
    } catch (error) {
      reasons.push(`${folder}: ${(error as Error).message}`);
    }
  }
  return { kind: 'unusable', detail: reasons.join('; ') };
}

/** With its parents. Node's `recursive` option loops for ever where a parent answers ENOENT: below /proc, on autofs. */
async function makeFolder(folder: string): Promise<void> {
  const parentMissing = await makeOne(folder);
  if (!parentMissing) return;
  await makeFolder(dirname(folder));
  await mkdir(folder, { mode: 0o700 });
}

/** True when the parent is missing. An existing folder counts as created. */
async function makeOne(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { mode: 0o700 });
    return false;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (code === 'ENOENT' && dirname(folder) !== folder) return true;
    throw error;
  }
}

/** Tests by writing: permission bits do not show a read-only or full file system. */
async function tryToWrite(folder: string): Promise<void> {
  const probe = join(folder, `.can-write-${process.pid}`);
  await writeFile(probe, 'x', { mode: 0o600 });
  await rm(probe);
}
