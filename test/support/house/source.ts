import { parseSync } from 'vite';

/** One parsed source file: its imports and names, without comments and strings. */
export interface Source {
  /** From the root of the repository, with `/`. */
  readonly path: string;
  readonly text: string;
  /** As written: `./card.js`, `node:fs`, `zod`; static, type-only, re-exported, dynamic and inside types. */
  readonly imports: readonly string[];
  /**
   * Dotted names that are read or called, as `Date.now` and `process`; `new Date()` where it is called without arguments.
   */
  readonly names: ReadonlySet<string>;
  readonly awaits: boolean;
  /** Every regular expression literal. One that is built by `RegExp()` has no text to check: null. */
  readonly patterns: readonly (Pattern | null)[];
  readonly lines: number;
  readonly comments: readonly Comment[];
  /** All statements of the file. */
  readonly program: Node;
}

/** A regular expression as written. */
export interface Pattern {
  readonly source: string;
  readonly flags: string;
}

/** `start` and `end` count characters from the beginning of the file, quotes or delimiters included. */
export interface Comment {
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

/** A node of the syntax tree, of which only the fields in use are typed. */
export type Node = Readonly<Record<string, unknown>>;

/** Parses a file as TypeScript. Throws on a syntax error: the compiler's message says more. */
export function readSource(path: string, text: string): Source {
  const { program, comments, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]?.message}`);
  const imports: string[] = [];
  const names = new Set<string>();
  const patterns: (Pattern | null)[] = [];
  let awaits = false;
  walk({ ...program }, (node) => {
    const from = importedBy(node);
    if (from !== null) imports.push(from);
    const name = nameOf(node);
    if (name !== null) names.add(name);
    const pattern = patternOf(node);
    if (pattern !== undefined) patterns.push(pattern);
    awaits ||= node['type'] === 'AwaitExpression' || node['async'] === true || node['await'] === true;
  });
  const lines = text.trimEnd().split('\n').length;
  return { path, text, imports, names, awaits, patterns, lines, comments, program: { ...program } };
}

export const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

/** Visits a node and its descendants, outer ones first. */
export function walk(node: Node, visit: (node: Node) => void): void {
  if (typeof node['type'] === 'string') visit(node);
  for (const child of Object.values(node)) if (isNode(child)) walk(child, visit);
}

/** `Date.now` for a name, a member access or a call of it; null for anything else. */
export function nameOf(node: Node): string | null {
  if (node['type'] === 'Identifier') return String(node['name']);
  if (node['type'] === 'CallExpression' && isNode(node['callee'])) return nameOf(node['callee']);
  if (node['type'] === 'NewExpression' && Array.isArray(node['arguments']) && node['arguments'].length === 0) {
    return isNode(node['callee']) ? `new ${nameOf(node['callee'])}()` : null;
  }
  if (node['type'] !== 'MemberExpression' || !isNode(node['object']) || !isNode(node['property'])) return null;
  const property = node['computed'] === true ? node['property']['value'] : node['property']['name'];
  return `${nameOf(node['object'])}.${String(property)}`;
}

/** Four of the five forms keep the module's name in `source`; in an `import x = require()` it is the `expression`. */
function importedBy(node: Node): string | null {
  const forms = [
    'ImportDeclaration',
    'ExportNamedDeclaration',
    'ExportAllDeclaration',
    'ImportExpression',
    'TSImportType',
  ];
  const holder = forms.includes(String(node['type'])) ? node['source'] : null;
  const source = node['type'] === 'TSExternalModuleReference' ? node['expression'] : holder;
  if (!isNode(source)) return null;
  return typeof source['value'] === 'string' ? source['value'] : '(a computed name)';
}

function patternOf(node: Node): Pattern | null | undefined {
  const makes = ['NewExpression', 'CallExpression'].includes(String(node['type'])) && isNode(node['callee']);
  if (makes && isNode(node['callee']) && node['callee']['name'] === 'RegExp') return null;
  const { regex } = node;
  if (node['type'] !== 'Literal' || !isNode(regex)) return undefined;
  return { source: String(regex['pattern']), flags: String(regex['flags']) };
}
