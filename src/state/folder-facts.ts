/** The condition of a state folder, for checking an installation. Changes nothing: creates no folder and locks none. */

import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isLocked } from './folder-lock.js';

/** The folder that a gate with these candidates would use. */
export type FolderFacts =
  | {
      readonly kind: 'there';
      readonly folder: string;
      /** Whether a live gate holds it. */
      readonly held: boolean;
      /** Whether its group or everybody may write to it. */
      readonly openToOthers: boolean;
      readonly freeBytes: number;
    }
  /** It does not exist yet and would be created. */
  | { readonly kind: 'can_be_made'; readonly folder: string }
  /** None of them is writable. */
  | { readonly kind: 'none'; readonly detail: string };

/** Checks the candidates in order, as a start would. */
export async function askFolder(candidates: readonly string[]): Promise<FolderFacts> {
  const reasons: string[] = [];
  for (const folder of candidates) {
    try {
      return await askOne(folder);
    } catch (error) {
      reasons.push(`${folder}: ${(error as Error).message}`);
    }
  }
  return { kind: 'none', detail: reasons.join('; ') };
}

async function askOne(folder: string): Promise<FolderFacts> {
  const stats = await stat(folder, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (stats === null) {
    await canBeMadeIn(dirname(folder));
    return { kind: 'can_be_made', folder };
  }
  if (!stats.isDirectory()) throw new Error('there is something there that is no folder');
  await access(folder, constants.W_OK | constants.X_OK);
  const { bavail, bsize } = await statfs(folder);
  return {
    kind: 'there',
    folder,
    held: await isLocked(folder),
    openToOthers: (stats.mode & 0o022n) !== 0n,
    freeBytes: bavail * bsize,
  };
}

/** The nearest existing parent folder decides. */
async function canBeMadeIn(parent: string): Promise<void> {
  try {
    await access(parent, constants.W_OK | constants.X_OK);
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT' && dirname(parent) !== parent;
    if (!missing) throw error;
    await canBeMadeIn(dirname(parent));
  }
}
