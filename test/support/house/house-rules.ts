import { posix } from 'node:path';
import type { Source } from './source.js';

/** What one part of the code may import: other parts, packages, and modules of Node (`'any'`, or those listed). */
interface Reach {
  readonly parts: readonly string[];
  readonly packages: readonly string[];
  readonly node: 'any' | readonly string[];
}

/**
 * Who may import what. A part is a folder of src at any depth, or a file at its top. Data flows look, judge, pick, claim;
 * the HTTP rooms get eyes, lock and hands as arguments and therefore never import them. Unused permits are removed.
 */
const HOUSE: Readonly<Record<string, Reach>> = {
  model: { parts: [], packages: [], node: [] },
  text: { parts: [], packages: [], node: ['node:util'] },
  time: { parts: ['model'], packages: [], node: [] },
  log: { parts: ['model', 'text'], packages: ['pino', 'pino-pretty'], node: 'any' },
  files: { parts: [], packages: [], node: [] },
  program: { parts: ['model', 'time'], packages: ['execa'], node: 'any' },
  // Reads package.json for the version; environment and flags are arguments.
  settings: { parts: ['model', 'text'], packages: [], node: ['node:fs', 'node:net'] },
  probe: { parts: ['model', 'time', 'probe/kernel-log', 'probe/nvidia-smi'], packages: [], node: [] },
  'probe/kernel-log': { parts: ['model', 'text', 'log'], packages: [], node: ['node:crypto', 'node:fs'] },
  'probe/nvidia-smi': { parts: ['model', 'text', 'time', 'program'], packages: [], node: [] },
  occupancy: { parts: ['model'], packages: [], node: [] },
  pick: { parts: ['model'], packages: [], node: [] },
  line: { parts: ['model', 'occupancy', 'pick'], packages: [], node: [] },
  observe: { parts: ['model', 'occupancy'], packages: [], node: ['node:fs/promises', 'node:path'] },
  docker: { parts: ['model', 'time'], packages: ['dockerode', 'zod'], node: 'any' },
  runtime: { parts: ['model', 'occupancy'], packages: [], node: [] },
  'runtime/docker': {
    parts: ['model', 'text', 'time', 'docker', 'log', 'runtime'],
    packages: ['dockerode', 'zod'],
    node: 'any',
  },
  'runtime/process': { parts: ['model', 'time', 'program', 'runtime'], packages: ['zod'], node: 'any' },
  lock: { parts: ['model', 'log', 'time', 'lock/redis'], packages: [], node: ['node:crypto'] },
  'lock/redis': {
    parts: ['model', 'files', 'log', 'text', 'time'],
    packages: ['ioredis', 'zod'],
    node: ['node:fs', 'node:process'],
  },
  state: { parts: ['model'], packages: ['zod'], node: 'any' },
  http: {
    parts: ['model', 'time', 'text', 'files', 'settings', 'http/connections'],
    packages: ['express', 'zod'],
    node: 'any',
  },
  'http/connections': { parts: ['model'], packages: [], node: 'any' },
  'http/web-config': {
    parts: ['model', 'text', 'settings', 'http', 'http/connections'],
    packages: ['bcryptjs', 'express', 'yaml', 'zod'],
    node: 'any',
  },
  admission: {
    parts: ['model', 'time', 'occupancy', 'line', 'admission/existing'],
    packages: [],
    node: [],
  },
  'admission/existing': { parts: ['model', 'text', 'time', 'occupancy'], packages: [], node: [] },
  admit: { parts: ['model', 'http'], packages: ['express', 'zod'], node: ['node:crypto'] },
  policy: { parts: ['model', 'admit', 'text', 'http'], packages: ['zod'], node: ['node:fs/promises', 'node:path'] },
  runs: {
    parts: ['model', 'time', 'http', 'admit', 'admission/existing'],
    packages: ['express', 'zod'],
    node: ['node:stream', 'node:stream/promises'],
  },
  cards: { parts: ['model', 'http'], packages: ['express', 'zod'], node: [] },
  metrics: { parts: ['model', 'time', 'text', 'http'], packages: ['express', 'prom-client'], node: ['node:zlib'] },
  page: {
    parts: ['model', 'http', 'admit', 'cards', 'page/client'],
    packages: ['express', 'zod'],
    node: ['node:fs', 'node:os', 'node:url'],
  },
  'page/client': { parts: [], packages: [], node: [] },
  openapi: { parts: ['model', 'http', 'admit', 'cards', 'runs', 'page'], packages: ['express', 'zod'], node: [] },
  // Checks an installation: asks the same questions as the gate, and judges the answers.
  doctor: {
    parts: [
      'model',
      'time',
      'text',
      'settings',
      'log',
      'occupancy',
      'probe',
      'probe/kernel-log',
      'probe/nvidia-smi',
      'docker',
      'lock/redis',
      'state',
      'http',
      'http/web-config',
    ],
    packages: [],
    node: 'any',
  },
  'stand-in': { parts: ['text', 'stand-in/fields', 'stand-in/machine'], packages: [], node: 'any' },
  'stand-in/fields': { parts: ['stand-in/machine'], packages: [], node: [] },
  'stand-in/machine': { parts: ['text'], packages: [], node: [] },
  'app.ts': {
    parts: ['model', 'http', 'admit', 'runs', 'cards', 'page', 'openapi'],
    packages: ['express'],
    node: [],
  },
  'runtimes.ts': {
    parts: ['model', 'settings', 'docker', 'runtime/docker', 'runtime/process'],
    packages: [],
    node: 'any',
  },
  'eyes.ts': {
    parts: ['model', 'settings', 'observe', 'probe', 'probe/kernel-log', 'probe/nvidia-smi'],
    packages: [],
    node: [],
  },
  'locks.ts': { parts: ['model', 'settings', 'lock', 'lock/redis'], packages: [], node: [] },
  'wire.ts': {
    parts: [
      'app.ts',
      'eyes.ts',
      'locks.ts',
      'runtimes.ts',
      'model',
      'settings',
      'http',
      'http/web-config',
      'policy',
      'state',
      'lock',
      'probe/kernel-log',
      'runtime',
      'admission',
      'admission/existing',
      'runs',
      'metrics',
      'page',
    ],
    packages: ['express'],
    node: ['node:crypto'],
  },
  'main.ts': {
    parts: ['wire.ts', 'model', 'time', 'log', 'settings', 'http', 'http/connections', 'http/web-config'],
    packages: [],
    node: [],
  },
  cli: {
    parts: [
      'main.ts',
      'cli/client',
      'cli/terminal',
      'doctor',
      'model',
      'text',
      'time',
      'settings',
      'policy',
      'runtime/process',
      'stand-in/machine',
    ],
    packages: ['commander'],
    node: 'any',
  },
  'cli/client': { parts: ['text', 'time', 'cli/terminal', 'settings'], packages: ['zod'], node: 'any' },
  'cli/terminal': { parts: ['text', 'time'], packages: [], node: [] },
};

/** What would break determinism: the same input must give the same answer, in a test as on a machine. */
const PURE = new Set(['model', 'settings', 'occupancy', 'pick']);
const IMPURE = new Set([
  'Date.now',
  'new Date()',
  'performance.now',
  'process.hrtime',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'Math.random',
  'process.env',
  'process.argv',
  'process.cwd',
  'fetch',
  'console',
]);

/** A longer file answers more than one question. */
const LONGEST = 250;

/** Every violation in these files of src; each a sentence that starts with the file's path. */
export function broken(sources: readonly Source[]): string[] {
  return [...sources.flatMap(brokenBy), ...circles(sources)];
}

/** Permits that no file of the part uses: each would allow an import that nobody intended. */
export function unusedPermits(sources: readonly Source[]): string[] {
  return Object.entries(HOUSE).flatMap(([part, reach]) => {
    const used = new Set(
      sources
        .filter(({ path }) => partOf(path) === part)
        .flatMap(({ path, imports }) => imports.map((from) => nameOf(path, from))),
    );
    const permits = [...reach.parts, ...reach.packages, ...(reach.node === 'any' ? [] : reach.node)];
    return [
      ...permits.filter((permit) => !used.has(permit)).map((permit) => `${part} may import ${permit}, and does not`),
      ...(reach.node === 'any' && ![...used].some((name) => name.startsWith('node:'))
        ? [`${part} may import modules of Node, and does not`]
        : []),
    ];
  });
}

function brokenBy(source: Source): string[] {
  const { path } = source;
  const part = partOf(path);
  const reach = HOUSE[part];
  if (reach === undefined) return [`${path} is in ${part}, which is no part of the house`];
  const pure = PURE.has(part);
  return [
    ...source.imports.map((from) => forbidden(path, from, reach)).filter((each) => each !== null),
    ...[...source.names]
      .filter((name) => pure && IMPURE.has(name))
      .map((name) => `${path} uses ${name} in a pure part`),
    ...(pure && source.awaits ? [`${path} waits for something in a pure part`] : []),
    ...(source.names.has('process.exit') && part !== 'main.ts'
      ? [`${path} calls process.exit, which only main.ts may`]
      : []),
    ...(source.lines > LONGEST ? [`${path} has ${source.lines} lines, more than ${LONGEST}`] : []),
    ...unfinished(source),
  ];
}

/** The generator of Grafana's files knows the gate's names, and nothing of its implementation. */
const GRAFANA_KNOWS = /^(?:grafana\/.*|src\/model\/.*|src\/metrics\/names\.ts)$/;
const GRAFANA_PACKAGES = /^(?:@grafana\/grafana-foundation-sdk\/[a-z]+|yaml)$/;

/**
 * The same for the files of grafana: the same code must give the same files, so no clock and no environment there either.
 */
export function brokenInGrafana(sources: readonly Source[]): string[] {
  return sources.flatMap((source) => {
    const { path, imports, names, lines } = source;
    const strange = imports.filter((from) =>
      from.startsWith('.') ? !GRAFANA_KNOWS.test(fileOf(path, from)) : !GRAFANA_PACKAGES.test(from),
    );
    return [
      ...strange.map((from) => `${path} imports ${from}`),
      ...[...names].filter((name) => IMPURE.has(name)).map((name) => `${path} uses ${name} in a pure part`),
      ...(lines > LONGEST ? [`${path} has ${lines} lines, more than ${LONGEST}`] : []),
      ...unfinished(source),
    ];
  });
}

/** Notes to do something later; they belong in an issue. */
export function unfinished({ path, comments }: Source): string[] {
  const notes = comments.map(({ value }) => value).filter((comment) => /\b(TODO|FIXME|XXX)\b/.test(comment));
  return notes.map((note) => `${path} has a note to do something later: ${note.trim()}`);
}

/** Tests that do not run: `test.skip`, `describe.only`, `it.todo`, `test.skipIf(…)` and the like. */
export function sleeping({ path, names }: Source): string[] {
  const asleep = /^(test|it|describe|suite|context)\..*\b(skip|only|todo|skipIf|runIf)\b|^x(it|test|describe)$/;
  return [...names].filter((name) => asleep.test(name)).map((name) => `${path} has a test that does not run: ${name}`);
}

function forbidden(path: string, from: string, reach: Reach): string | null {
  const name = nameOf(path, from);
  if (from.startsWith('.'))
    return name === partOf(path) || reach.parts.includes(name) ? null : `${path} imports ${name}`;
  if (from.startsWith('node:'))
    return reach.node === 'any' || reach.node.includes(name) ? null : `${path} imports ${name}`;
  return reach.packages.includes(name) ? null : `${path} imports the package ${name}`;
}

/** The name that permits use for an import: a part, a module of Node, or a package. */
function nameOf(path: string, from: string): string {
  if (from.startsWith('.')) return partOf(fileOf(path, from));
  if (from.startsWith('node:')) return from;
  return from
    .split('/')
    .slice(0, from.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Parts that import themselves through others. Each cycle is reported once, from its first part by name. */
function circles(sources: readonly Source[]): string[] {
  const reached = new Map<string, Set<string>>();
  for (const { path, imports } of sources) {
    const to = imports.filter((from) => from.startsWith('.')).map((from) => partOf(fileOf(path, from)));
    reached.set(
      partOf(path),
      new Set([...(reached.get(partOf(path)) ?? []), ...to.filter((part) => part !== partOf(path))]),
    );
  }
  const found: string[] = [];
  const follow = (trail: readonly string[]): void => {
    for (const next of reached.get(trail.at(-1) ?? '') ?? []) {
      if (next === trail[0]) found.push(`src imports in a circle: ${[...trail, next].join(', ')}`);
      else if (!trail.includes(next) && next > (trail[0] ?? '')) follow([...trail, next]);
    }
  };
  for (const part of reached.keys()) follow([part]);
  return found;
}

/** The folder that a file of src is in, or the file's name at the top. The nouns are one part, with their subfolders. */
function partOf(path: string): string {
  const folder = posix.relative('src', posix.dirname(path));
  if (folder.startsWith('model/')) return 'model';
  return folder === '' ? posix.basename(path) : folder;
}

function fileOf(path: string, from: string): string {
  return posix.join(posix.dirname(path), from).replace(/\.js$/, '.ts');
}
