/**
 * Whether the first part of an image's name, before the first slash, is a registry, by Docker's rule: it contains a dot or a
 * colon, is `localhost`, or has an upper-case letter, which no other part of a name may have (distribution/reference).
 */
export function isRegistry(firstPart: string): boolean {
  return /[.:A-Z]|^localhost$/.test(firstPart);
}
