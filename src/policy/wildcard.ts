/** Whether a text matches a pattern in which `*` stands for any characters or none. */

/** Linear in the text for any pattern: no policy's pattern may make a request slow. */
export function matches(pattern: string, text: string): boolean {
  const parts = pattern.split('*');
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (parts.length === 1) return text === pattern;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

export function matchesAny(patterns: readonly string[], text: string): boolean {
  return patterns.some((pattern) => matches(pattern, text));
}
