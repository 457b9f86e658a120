/** The links in a Markdown text, and the anchors in it. */

/** The targets of all links and pictures, as written. */
export function linksOf(text: string): readonly string[] {
  return [...withoutCode(text).matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
}

/**
 * The anchors of all headings, as GitHub makes them: lower case, no punctuation, a dash for each space; duplicates are
 * numbered.
 */
export function anchorsOf(text: string): readonly string[] {
  const seen = new Map<string, number>();
  const headings = [...withoutBlocks(text).matchAll(/^#{1,6} +(.+?) *#*$/gm)].map(([, heading = '']) => heading);
  return headings.map((heading) => {
    const anchor = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-');
    const before = seen.get(anchor) ?? 0;
    seen.set(anchor, before + 1);
    return before === 0 ? anchor : `${anchor}-${before}`;
  });
}

function withoutCode(text: string): string {
  return withoutBlocks(text).replaceAll(/`[^`\n]*`/g, '');
}

function withoutBlocks(text: string): string {
  return text.replaceAll(/^```[^]*?^```/gm, '');
}
