/** What one cell of the driver's output says, or that it says nothing. */

import type { Reading } from '../../model/snapshot.js';
import { plainWithin } from '../../text/plain.js';

/** One cell of a row, as text. The error words are those of `nvidia-smi`, branches 418 to 610. */
export function readText(cell: string | undefined): Reading<string> {
  if (cell === undefined) return { kind: 'absent' };
  const words = clean(cell);
  if (words === '') return { kind: 'unreadable', words };
  if (words === 'ERR!') return { kind: 'error', words };
  const inner = /^\[(.*)\]$/.exec(words)?.[1];
  if (CANNOT_SAY.has((inner ?? words).toLowerCase())) return { kind: 'cannot_say', words };
  if (inner === undefined) return { kind: 'value', value: words };
  return { kind: isDenied(inner) ? 'denied' : 'error', words };
}

/** Whether an error text is about permissions: then the card may be fine, and is only not visible. */
export function isDenied(words: string): boolean {
  return /permission/i.test(words);
}

/**
 * The lines of an answer that are not blank. Only a line feed ends a line: a carriage return inside a cell must not make two
 * cards of one.
 */
export function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}

/** A message of a driver or a program for a person: on one line and not too long. */
export function clean(text: string): string {
  return plainWithin(text, LONGEST);
}

/** The last is of 590 and concerns the column, not the card: a deprecated column must not make every card faulty. */
const CANNOT_SAY = new Set(['n/a', 'not supported', 'requested functionality has been deprecated']);
const LONGEST = 300;
