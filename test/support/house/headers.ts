/**
 * One form for the beginning of a file. It says first which question the file answers: in a header (a docstring, then a
 * blank line) or, with a single export, in the docstring of that. It says it once.
 */

import { isNode, type Comment, type Node, type Source } from './source.js';

/** What is wrong with how these files begin; each a sentence that starts with the file's path. */
export function badHeaders(sources: readonly Source[]): string[] {
  return sources.flatMap((source) => {
    const header = headerOf(source);
    if (header === null) return saysNothing(source) ? [`${source.path} does not say what question it answers`] : [];
    const first = sentenceIn(header.value);
    const again = source.comments.filter((each) => each !== header && sentenceIn(each.value) === first);
    return again.map(() => `${source.path} says in its header and again below: ${first}`);
  });
}

/** The docstring at the very beginning, or below the `#!` line, with a blank line after it; null where there is none. */
function headerOf({ text, comments }: Source): Comment | null {
  const first = comments.find(isDocstring);
  if (first === undefined || !/^(?:#![^\n]*\s*)?$/.test(text.slice(0, first.start))) return null;
  return /^\n\n(?!\n)/.test(text.slice(first.end)) ? first : null;
}

/**
 * Without a header: whether there is more than one export, or the one has no docstring. Types count where there is nothing
 * else.
 */
function saysNothing(source: Source): boolean {
  const all = exportsOf(source);
  const values = all.filter(({ declaration }) => !isType(declaration));
  const [only, ...more] = values.length > 0 ? values : all;
  return only === undefined || more.length > 0 || !hasDocstring(source, only.start);
}

function exportsOf({ program }: Source): readonly { readonly start: number; readonly declaration: Node }[] {
  const body = Array.isArray(program['body']) ? program['body'].filter(isNode) : [];
  return body.flatMap((node) => {
    const declaration = node['declaration'];
    return node['type'] === 'ExportNamedDeclaration' && isNode(declaration)
      ? [{ start: Number(node['start']), declaration }]
      : [];
  });
}

const isType = (declaration: Node): boolean => String(declaration['type']).startsWith('TS');

function hasDocstring({ text, comments }: Source, start: number): boolean {
  return comments.some((each) => isDocstring(each) && each.end < start && text.slice(each.end, start).trim() === '');
}

const isDocstring = ({ value }: Comment): boolean => value.startsWith('*');

/** The first sentence of a docstring, without its final punctuation and the comment markers. */
function sentenceIn(comment: string): string {
  const words = comment
    .replaceAll(/^\s*\*+ ?/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return /^.*?(?=[.;:](?:\s|$)|$)/.exec(words)?.[0] ?? words;
}
