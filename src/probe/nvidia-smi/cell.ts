import { stripVTControlCharacters } from 'node:util';
import type { Reading } from '../../model/snapshot.js';

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

/** One cell as an amount of memory in MiB, its unit printed or not. A number that no card can have is unreadable, not a reading. */
export function readMib(cell: string | undefined): Reading<number> {
  const text = readText(cell);
  if (text.kind !== 'value') return text;
  const number = Number(/^(\d+(?:\.\d+)?)(?:\s*MiB)?$/.exec(text.value)?.[1] ?? Number.NaN);
  const sane = Number.isFinite(number) && number <= MOST_MIB;
  return sane ? { kind: 'value', value: number } : { kind: 'unreadable', words: text.value };
}

/** The words of a cell that is a name or a version; null where it is none. */
export function textOrNull(cell: string | undefined): string | null {
  const reading = readText(cell);
  return reading.kind === 'value' ? reading.value : null;
}

/** Whether words speak of permissions: then the card may be fine, it could not be seen. */
export function isDenied(words: string): boolean {
  return /permission/i.test(words);
}

/** Text from a program or a driver made fit for a page, a label and a log line: no escape codes, one line, not too long. */
export function clean(text: string): string {
  const words = visible(text).trim();
  return words.length <= LONGEST ? words : `${words.slice(0, LONGEST - 1)}…`;
}

/** Text without escape codes, each control character a blank; as long as it was, but for the codes. */
export function visible(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ');
}

/** The last is of 590 and speaks of the column, not of the card: a column that goes out of use must not take every card with it. */
const CANNOT_SAY = new Set(['n/a', 'not supported', 'requested functionality has been deprecated']);
const LONGEST = 300;
/** 1 PiB. */
const MOST_MIB = 2 ** 30;
