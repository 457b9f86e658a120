/**
 * Makes foreign text (of a driver, a program, a caller, a container's name) safe for a terminal, a log, a page and a label.
 * It may contain codes that clear a screen or forge a line, and characters that are invisible or change the text's
 * direction.
 */

import { stripVTControlCharacters } from 'node:util';

/** Control characters (C0, DEL, C1), format characters (bidi, zero width, tags), line and paragraph separators. */
const UNSEEN = String.raw`\p{Cc}\p{Cf}\p{Zl}\p{Zp}`;
const RUN = new RegExp(`[${UNSEEN}]+`, 'gu');
const RUN_BUT_BREAKS = new RegExp(`(?:(?![\\n\\t])[${UNSEEN}])+`, 'gu');
const ANY = new RegExp(`[${UNSEEN}]`, 'u');
/** Above C0, which JSON escapes by itself. */
const LEFT_BY_JSON = new RegExp(`(?![\\0-\\x1f])[${UNSEEN}]`, 'gu');

/** One line without escape codes; each run of invisible characters becomes a blank. */
export function plain(text: string): string {
  return stripVTControlCharacters(text).replaceAll(RUN, ' ');
}

/** The same without blanks around it, and cut to so many characters with a mark where text is missing. */
export function plainWithin(text: string, most: number): string {
  const words = plain(text).trim();
  return words.length <= most ? words : `${words.slice(0, most - 1)}…`;
}

/** The same as `plain`, but keeps the line breaks and tabs of a longer text. */
export function plainLines(text: string): string {
  return stripVTControlCharacters(text).replaceAll(RUN_BUT_BREAKS, ' ');
}

/** Whether `plain` would leave it unchanged. */
export function isPlain(text: string): boolean {
  return !ANY.test(text);
}

/** As JSON without any character that a terminal would interpret: a parser gets the original value. */
export function plainJson(value: unknown, indent?: number): string {
  return (JSON.stringify(value, null, indent) ?? 'null').replaceAll(LEFT_BY_JSON, escaped);
}

/** One or two `\uXXXX`: a character beyond the first 65,536 is two. */
function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
