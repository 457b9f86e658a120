/** Text of others, quoted in an answer, is cut: a label may hold a megabyte. */

/** Longer names are none that a person gave. */
export const LONGEST_NAME = 200;

/** The text, or as much of it as so many characters hold with a sign that it was cut. */
export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** Some of a list, for a sentence: each entry cut, and how many more there are. */
export function someOf(texts: readonly string[], most = 8): string {
  const shown = texts.slice(0, most).map((text) => cut(text, LONGEST_NAME));
  return texts.length > most ? `${shown.join(', ')} and ${texts.length - most} more` : shown.join(', ');
}
