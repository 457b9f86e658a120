import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RememberedCard } from '../model/snapshot.js';
import { REMEMBERED_CARDS } from './file-formats.js';

/**
 * The cards that a gate has seen before, from the first of these state folders with a list; for commands that only read.
 * Empty where no list exists, or it is unreadable.
 */
export async function readCardsSeen(candidates: readonly string[]): Promise<readonly RememberedCard[]> {
  for (const folder of candidates) {
    const text = await readFile(join(folder, REMEMBERED_CARDS.fileName), 'utf8').catch(() => null);
    if (text !== null) return parsed(text);
  }
  return [];
}

function parsed(text: string): readonly RememberedCard[] {
  try {
    return REMEMBERED_CARDS.parse(text);
  } catch {
    return [];
  }
}
