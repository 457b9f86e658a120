/** What a gate has kept in its state folder, for commands that only read. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Exclusion, RememberedCard } from '../model/snapshot.js';
import type { XidFinding } from '../model/xid.js';
import { byNow, withEnds } from './exclusion-store.js';
import { EXCLUSION_ENDS, EXCLUSIONS, REMEMBERED_CARDS, XID_RECORD, type FileFormat } from './file-formats.js';

/** The cards that a gate has seen before, from the first of these state folders with a list. */
export function readCardsSeen(candidates: readonly string[]): Promise<readonly RememberedCard[]> {
  return readFirst(candidates, REMEMBERED_CARDS);
}

/** The cards that an operator took out, without those whose exclusion has ended by then. */
export async function readExclusions(candidates: readonly string[], nowMs: number): Promise<readonly Exclusion[]> {
  const [kept, ends] = [await readFirst(candidates, EXCLUSIONS), await readFirst(candidates, EXCLUSION_ENDS)];
  return byNow(withEnds(kept, ends), nowMs).standing;
}

/** The Xids that exclude a card, as far as a gate has read the kernel's log in this boot. */
export async function readXids(candidates: readonly string[], bootId: string): Promise<readonly XidFinding[]> {
  const [record] = await readFirst(candidates, XID_RECORD);
  return record?.bootId === bootId ? record.findings : [];
}

/** Empty where no list exists, or it is unreadable. */
async function readFirst<Entry>(candidates: readonly string[], format: FileFormat<Entry>): Promise<readonly Entry[]> {
  for (const folder of candidates) {
    const text = await readFile(join(folder, format.fileName), 'utf8').catch(() => null);
    if (text !== null) return parsed(text, format);
  }
  return [];
}

function parsed<Entry>(text: string, format: FileFormat<Entry>): readonly Entry[] {
  try {
    return format.parse(text);
  } catch {
    return [];
  }
}
