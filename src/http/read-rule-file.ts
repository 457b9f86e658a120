/** Reads an access file (tokens, policy), provided that nobody else could have written it. */

import { constants, type BigIntStats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { getuid } from 'node:process';
import { whyNotTrusted } from '../files/trust.js';

/** The result of one read. `problem` is a sentence that names the path. */
export type RuleFileRead =
  | { readonly kind: 'text'; readonly text: string; readonly mode: number; readonly stamp: string }
  | { readonly kind: 'gone' | 'empty' | 'not_trusted'; readonly problem: string; readonly stamp: string }
  /** The failure may be temporary, so there is no stamp, and the next check tries again. */
  | { readonly kind: 'unreadable'; readonly problem: string };

/**
 * Reads text and stamp from one open file, so that they belong together. Does not block on a pipe or a device in its place.
 */
export async function readRuleFile(path: string, ownUid = getuid?.() ?? 0): Promise<RuleFileRead> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat({ bigint: true });
    const stamp = stampFrom(stats);
    const distrust = whyNotTrusted(
      { uid: Number(stats.uid), mode: Number(stats.mode), isFile: () => stats.isFile() },
      ownUid,
    );
    if (distrust !== null) return { kind: 'not_trusted', problem: `${path}: ${distrust}`, stamp };
    const text = await file.readFile('utf8');
    if (text.trim() === '') return { kind: 'empty', problem: `${path}: is empty`, stamp };
    return { kind: 'text', text, mode: Number(stats.mode), stamp };
  } catch (error) {
    const problem = `${path}: cannot be read: ${words(error)}`;
    const gone = ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
    return gone ? { kind: 'gone', problem, stamp: GONE } : { kind: 'unreadable', problem };
  }
}

/** Differs whenever the file's content may have changed. */
export async function stampOf(path: string): Promise<string> {
  try {
    return stampFrom(await stat(path, { bigint: true }));
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '') ? GONE : words(error);
  }
}

const GONE = 'gone';

function stampFrom(stats: BigIntStats): string {
  return [stats.dev, stats.ino, stats.size, stats.mode, stats.uid, stats.mtimeNs, stats.ctimeNs].join(' ');
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
