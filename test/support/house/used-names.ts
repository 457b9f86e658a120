/**
 * Names that are declared in one place and must be used in another: a setting that is read, a metric that is set, a code
 * that is answered.
 */

import { isNode, nameOf, walk, type Node, type Source } from './source.js';

/**
 * The keys that are read from anything with this name: `settings.runtime`, `parts.settings.runtime`, `const { runtime } =
 * settings`.
 */
export function keysRead(name: string, sources: readonly Source[]): ReadonlySet<string> {
  const ends = new RegExp(String.raw`(?:^|\.)${name}$`);
  const keys = new Set<string>();
  for (const { names, program } of sources) {
    for (const each of names) {
      const at = each.lastIndexOf('.');
      if (ends.test(each.slice(0, at))) keys.add(each.slice(at + 1));
    }
    walk(program, (node) => {
      const { id, init } = node;
      if (node['type'] !== 'VariableDeclarator' || !isNode(id) || !isNode(init)) return;
      if (ends.test(nameOf(init) ?? '')) for (const key of patternKeys(id)) keys.add(key);
    });
  }
  return keys;
}

/** The codes of answers: the value of `code` in an object, or an argument of a call (`refuse('busy', …)`). */
export function codesAnswered(sources: readonly Source[]): ReadonlySet<string> {
  const codes = new Set<string>();
  for (const { program } of sources) {
    walk(program, (node) => {
      for (const each of codesIn(node)) codes.add(each);
    });
  }
  return codes;
}

function codesIn(node: Node): string[] {
  const key = isNode(node['key']) ? node['key'] : null;
  if (node['type'] === 'Property' && key?.['name'] === 'code' && isNode(node['value'])) return wordsIn(node['value']);
  return node['type'] === 'CallExpression' ? (node['arguments'] as unknown[]).filter(isNode).flatMap(wordsIn) : [];
}

/** The strings that an expression may evaluate to, directly or through a conditional. */
function wordsIn(node: Node): string[] {
  if (node['type'] === 'Literal') return [String(node['value'])];
  if (node['type'] !== 'ConditionalExpression') return [];
  return [node['consequent'], node['alternate']].filter(isNode).flatMap(wordsIn);
}

function patternKeys(id: Node): string[] {
  const properties = Array.isArray(id['properties']) ? id['properties'].filter(isNode) : [];
  return properties.flatMap(({ key }) => (isNode(key) ? [String(key['name'])] : []));
}
