import { join } from 'node:path';
import type { Clock, Log } from '../model/ports/outside.js';
import { readOrSetAside } from './read-or-set-aside.js';
import { writeAtomic } from './write-atomic.js';

/** Used as a label's value and in log lines: short, and one word. */
const WELL_FORMED = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;

/**
 * The id of the gate that owns this folder: created once and stable across restarts, so that the gate recognizes its own
 * left-overs. Rejects if a new one cannot be saved: with an id that changes at each start, left-overs would stay until the
 * grace period ends.
 */
export async function ownInstanceId(
  folder: string,
  newId: () => string,
  outside: { clock: Clock; log: Log },
): Promise<string> {
  const file = join(folder, 'instance-id');
  const found = await readOrSetAside(file, parseInstanceId, outside);
  if (found !== null) return found;
  const made = newId();
  await writeAtomic(file, `${made}\n`);
  return made;
}

function parseInstanceId(text: string): string {
  const id = text.trim();
  if (!WELL_FORMED.test(id))
    throw new Error(`expected an instance id (${WELL_FORMED.source}), got ${JSON.stringify(id.slice(0, 40))}`);
  return id;
}
