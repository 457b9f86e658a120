/**
 * Text of others (a driver, a program, a caller, a container's name) made fit for a terminal, a log, a page and a label. It may
 * hold codes that clear a screen or forge a line, and characters that show nothing or turn the direction of what follows.
 */

import { stripVTControlCharacters } from 'node:util';

/** Control characters (C0, DEL, C1), format characters (bidi, zero width, tags), line and paragraph separators. */
const UNSEEN = String.raw`\p{Cc}\p{Cf}\p{Zl}\p{Zp}`;
const RUN = new RegExp(`[${UNSEEN}]+`, 'gu');
const RUN_BUT_BREAKS = new RegExp(`(?:(?![\\n\\t])[${UNSEEN}])+`, 'gu');
const ANY = new RegExp(`[${UNSEEN}]`, 'u');
/** Above C0, which JSON escapes by itself. */
const LEFT_BY_JSON = new RegExp(`(?![\\0-\\x1f])[${UNSEEN}]`, 'gu');

/** One line without escape codes; each run of characters that show nothing is a blank. */
export function plain(text: string): string {
  return stripVTControlCharacters(text).replaceAll(RUN, ' ');
}

/** The same without blanks around it, and cut to so many characters with a sign that it was. */
export function plainWithin(text: string, most: number): string {
  const words = plain(text).trim();
  return words.length <= most ? words : `${words.slice(0, most - 1)}…`;
}

/** The same as `plain`, the line breaks and tabs of a longer text kept. */
export function plainLines(text: string): string {
  return stripVTControlCharacters(text).replaceAll(RUN_BUT_BREAKS, ' ');
}

/** Whether there is nothing in it that `plain` would change. */
export function isPlain(text: string): boolean {
  return !ANY.test(text);
}

/** As JSON, in which nothing stands that a terminal would heed: what reads it gets the value as it was. */
export function plainJson(value: unknown, indent?: number): string {
  return (JSON.stringify(value, null, indent) ?? 'null').replaceAll(LEFT_BY_JSON, escaped);
}

/** One or two `\uXXXX`: a character beyond the first 65,536 is two. */
function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
