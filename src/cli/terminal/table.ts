/** Columns and paragraphs for a terminal. Pure. */

/** Rows below their headings, each column as wide as its widest cell, without trailing spaces; each line cut to `width`. */
export function table(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
): readonly string[] {
  const all = [heads, ...rows];
  const widths = heads.map((_head, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all.map((row) => {
    const cells = row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)));
    return cut(cells.join('  ').trimEnd(), width);
  });
}

/** Cut to so many characters, with a mark where text is missing. */
export function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(1, width - 1))}…`;
}

/** Wrapped between words; a word that is longer than the line is cut. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(cut(word, width));
  }
  return lines;
}
