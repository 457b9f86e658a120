import { posix } from 'node:path';
import type { Source } from './source.js';

/** What one part of the house may reach: other parts, packages, and modules of Node (`'any'`, or those named). */
interface Reach {
  readonly parts: readonly string[];
  readonly packages: readonly string[];
  readonly node: 'any' | readonly string[];
}

const EYES_TO_HANDS = ['probe', 'occupancy', 'pick', 'lock', 'runtime'];
const FACES = ['admission', 'cards', 'metrics', 'page', 'http'];

/**
 * Who may reach what. A part is a folder of src, or a file at its top. Data flows look, judge, pick, claim;
 * the faces get eyes, lock and hands as arguments and therefore never import them.
 */
const HOUSE: Readonly<Record<string, Reach>> = {
  model: { parts: [], packages: [], node: [] },
  occupancy: { parts: ['model'], packages: [], node: [] },
  pick: { parts: ['model'], packages: [], node: [] },
  // Reads package.json for the version; environment and flags are handed in.
  settings: { parts: ['model'], packages: [], node: ['node:fs', 'node:net', 'node:path'] },
  probe: { parts: ['model'], packages: ['execa', 'dockerode', 'zod'], node: 'any' },
  lock: { parts: ['model'], packages: ['ioredis', 'zod'], node: 'any' },
  runtime: { parts: ['model', 'probe'], packages: ['execa', 'dockerode', 'zod'], node: 'any' },
  http: { parts: ['model', 'settings'], packages: ['express', 'zod'], node: 'any' },
  cards: { parts: ['model', 'occupancy', 'http'], packages: ['express', 'zod'], node: 'any' },
  admission: {
    parts: ['model', 'occupancy', 'pick', 'http', 'cards', 'page'],
    packages: ['express', 'zod'],
    node: 'any',
  },
  metrics: { parts: ['model', 'occupancy', 'http'], packages: ['express', 'prom-client'], node: 'any' },
  page: { parts: ['model', 'http', 'cards'], packages: ['express', 'zod'], node: ['node:fs', 'node:os', 'node:url'] },
  'stand-in': { parts: [], packages: [], node: 'any' },
  'log.ts': { parts: ['model'], packages: ['pino', 'pino-pretty'], node: 'any' },
  'app.ts': { parts: ['model', ...FACES], packages: ['express'], node: 'any' },
  'open-parts.ts': {
    parts: ['model', 'settings', 'http', 'admission', 'lock', 'probe', 'runtime'],
    packages: ['dockerode'],
    node: 'any',
  },
  'main.ts': {
    parts: ['app.ts', 'log.ts', 'open-parts.ts', 'model', 'settings', ...EYES_TO_HANDS, ...FACES],
    packages: ['express'],
    node: 'any',
  },
  // Checks an installation: asks the same questions as the gate, and judges the answers.
  doctor: { parts: ['model', 'settings', 'probe', 'lock', 'runtime', 'http'], packages: [], node: 'any' },
  cli: {
    parts: ['main.ts', 'doctor', 'model', 'settings', 'http', 'runtime', 'admission', 'stand-in'],
    packages: ['commander', 'zod'],
    node: 'any',
  },
};

/** The same input must give the same answer, in a test as on a machine: what would break that. */
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

/** Longer than this a file answers more than one question. */
const LONGEST = 250;

/** Everything in these files of src that the house does not allow; each a sentence that starts with the file's path. */
export function broken(sources: readonly Source[]): string[] {
  return [...sources.flatMap(brokenBy), ...circles(sources)];
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

/** What makes Grafana's files knows the words of the gate, and nothing of how it works. */
const GRAFANA_KNOWS = /^(?:grafana\/.*|src\/model\/.*|src\/metrics\/names\.ts)$/;
const GRAFANA_PACKAGES = /^(?:@grafana\/grafana-foundation-sdk\/[a-z]+|yaml)$/;

/** The same for the files of grafana: the same code must give the same files, so no clock and no environment there either. */
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

/** Notes to do something later; they belong into an issue. */
export function unfinished({ path, comments }: Source): string[] {
  const notes = comments.filter((comment) => /\b(TODO|FIXME|XXX)\b/.test(comment));
  return notes.map((note) => `${path} has a note to do something later: ${note.trim()}`);
}

/** Tests that do not run: `test.skip`, `describe.only`, `it.todo`, `test.skipIf(…)` and the like. */
export function sleeping({ path, names }: Source): string[] {
  const asleep = /^(test|it|describe|suite|context)\..*\b(skip|only|todo|skipIf|runIf)\b|^x(it|test|describe)$/;
  return [...names].filter((name) => asleep.test(name)).map((name) => `${path} has a test that does not run: ${name}`);
}

function forbidden(path: string, from: string, reach: Reach): string | null {
  if (from.startsWith('.')) {
    const part = partOf(fileOf(path, from));
    return part === partOf(path) || reach.parts.includes(part) ? null : `${path} imports ${part}`;
  }
  if (from.startsWith('node:')) {
    return reach.node === 'any' || reach.node.includes(from) ? null : `${path} imports ${from}`;
  }
  const name = from
    .split('/')
    .slice(0, from.startsWith('@') ? 2 : 1)
    .join('/');
  return reach.packages.includes(name) ? null : `${path} imports the package ${name}`;
}

/** Parts that reach themselves over others. Each circle is told once, from its first part by name. */
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

/** The folder of src, or the file's name at its top. */
function partOf(path: string): string {
  return posix.relative('src', path).split('/')[0] ?? path;
}

function fileOf(path: string, from: string): string {
  return posix.join(posix.dirname(path), from).replace(/\.js$/, '.ts');
}
