/** Shortens foreign text that is quoted in an answer: a label may have a megabyte. */

/** No name given by a person is longer. */
export const LONGEST_NAME = 200;

/** The text, or its beginning with a mark that text is missing. */
export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** The first entries of a list, for a sentence: each shortened, and how many more there are. */
export function someOf(texts: readonly string[], most = 8): string {
  const shown = texts.slice(0, most).map((text) => cut(text, LONGEST_NAME));
  return texts.length > most ? `${shown.join(', ')} and ${texts.length - most} more` : shown.join(', ');
}
