/**
 * One form of log lines: keys in snake_case; one sentence that begins in lower case, or with a name, and has no full stop.
 */

import { isNode, nameOf, walk, type Node, type Source } from './source.js';

/** What a sentence may begin with in upper case. */
const NAMES = /^(?:Docker|Redis|Prometheus|NVIDIA|SIG[A-Z]+|TUNEPLANE_[A-Z_]+|CDI|MIG)\b/;

/** What is wrong with the log lines that these files write; each a sentence that starts with the file's path. */
export function badLogLines(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, program }) => {
    const wrong: string[] = [];
    const sayers = sayersIn(program);
    walk(program, (node) => {
      if (node['type'] !== 'CallExpression') return;
      const given = (node['arguments'] as unknown[]).filter(isNode);
      const [data, sentence] = isLog(node) ? given : [undefined, sayers.has(nameOf(node)) ? given[0] : undefined];
      if (data !== undefined)
        wrong.push(
          ...keysOf(data)
            .filter(isOddKey)
            .map((key) => `${path} logs the key ${key}`),
        );
      if (sentence !== undefined)
        wrong.push(
          ...textsOf(sentence)
            .filter(isOdd)
            .map((text) => `${path} logs "${text}"`),
        );
    });
    return wrong;
  });
}

/** A call of one of the four methods on anything named log. */
function isLog(call: Node): boolean {
  return /(?:^|\.)log\.(?:debug|info|warn|error)$/.test(nameOf(call) ?? '');
}

/** The names that this file gives to results of `sayOnce`, which take only the sentence. */
function sayersIn(program: Node): ReadonlySet<string | null> {
  const sayers = new Set<string | null>();
  walk(program, ({ type, id, init }) => {
    if (type !== 'VariableDeclarator' || !isNode(id) || !isNode(init)) return;
    if (init['type'] === 'CallExpression' && nameOf(init) === 'sayOnce') sayers.add(nameOf(id));
  });
  return sayers;
}

/** The keys of an object literal, including nested ones. Keys from a spread or a variable are not visible here. */
function keysOf(data: Node): string[] {
  const keys: string[] = [];
  walk(data, (node) => {
    const key = node['key'];
    if (node['type'] === 'Property' && node['computed'] !== true && isNode(key)) {
      keys.push(String(key['name'] ?? key['value']));
    }
  });
  return keys;
}

const isOddKey = (key: string): boolean => !/^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/.test(key);

/** The possible sentences of an argument, with `…` for interpolated parts; empty where it is not a literal. */
function textsOf(node: Node): string[] {
  switch (node['type']) {
    case 'Literal':
      return [String(node['value'])];
    case 'TemplateLiteral': {
      const parts = node['quasis'] as readonly { readonly value: { readonly cooked: string } }[];
      return [parts.map(({ value }) => value.cooked).join('…')];
    }
    case 'ConditionalExpression':
      return [node['consequent'], node['alternate']].filter(isNode).flatMap(textsOf);
    case 'BinaryExpression': {
      const sides = [node['left'], node['right']].filter(isNode).map((side) => textsOf(side)[0] ?? '…');
      return [sides.join('')];
    }
    default:
      return [];
  }
}

function isOdd(sentence: string): boolean {
  return (/^\p{Lu}/u.test(sentence) && !NAMES.test(sentence)) || /\.(?:\s|$)/.test(sentence);
}
