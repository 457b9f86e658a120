/** What stands at a path of this machine now. */

import { lstat, realpath } from 'node:fs/promises';

/** Where a path leads behind every link; null where there is nothing, or where it may not be looked at. */
export type ResolvePath = (path: string) => Promise<string | null>;

export async function realPath(path: string): Promise<string | null> {
  try {
    return await realpath(path);
  } catch {
    return null;
  }
}

export interface PathFacts {
  readonly kind: 'folder' | 'link' | 'other';
  readonly owner: number;
  /** Permission bits alone. */
  readonly mode: number;
}

/** What stands at a path itself, never behind a link; null where there is nothing, or where it may not be looked at. */
export type LookAt = (path: string) => Promise<PathFacts | null>;

export async function lookAtPath(path: string): Promise<PathFacts | null> {
  try {
    const stats = await lstat(path);
    const kind = stats.isDirectory() ? 'folder' : stats.isSymbolicLink() ? 'link' : 'other';
    return { kind, owner: stats.uid, mode: stats.mode & 0o7777 };
  } catch {
    return null;
  }
}
