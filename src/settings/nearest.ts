/** The known word nearest to an unknown one: the fewest letters changed, inserted or deleted. */
export function nearest(word: string, known: readonly string[]): string | null {
  let best: { readonly word: string; readonly edits: number } | null = null;
  for (const candidate of known) {
    const edits = editsBetween(word, candidate);
    if (best === null || edits < best.edits) best = { word: candidate, edits };
  }
  return best === null ? null : best.word;
}

/** Levenshtein's distance, one row at a time. */
function editsBetween(from: string, to: string): number {
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let at = 0; at < from.length; at += 1) {
    const row = [at + 1];
    for (let column = 1; column <= to.length; column += 1) {
      const changed = (above[column - 1] ?? 0) + (from[at] === to[column - 1] ? 0 : 1);
      row.push(Math.min(changed, (above[column] ?? 0) + 1, (row[column - 1] ?? 0) + 1));
    }
    above = row;
  }
  return above[to.length] ?? 0;
}
