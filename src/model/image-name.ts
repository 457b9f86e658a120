/**
 * Whether the first part of an image's name, before the first slash, is a registry, as Docker tells it: where it holds a dot or a
 * colon, is `localhost`, or has a letter in upper case, which no other part of a name may have (distribution/reference).
 */
export function isRegistry(firstPart: string): boolean {
  return /[.:A-Z]|^localhost$/.test(firstPart);
}
