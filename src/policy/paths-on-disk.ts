/** What exists at a path of this machine now. */

import { lstat, realpath } from 'node:fs/promises';

/** A path with every link resolved; null where nothing is there, or access is denied. */
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
  /** Permission bits only. */
  readonly mode: number;
}

/** What is at a path itself, without following a link; null where nothing is there, or access is denied. */
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
