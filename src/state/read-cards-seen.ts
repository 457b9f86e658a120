import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RememberedCard } from '../model/snapshot.js';
import { REMEMBERED_CARDS } from './file-formats.js';

/**
 * The cards that a gate has seen before, from the first of these state folders in which there is a list; for whoever only
 * looks. None where there is no list, or one that cannot be read.
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
