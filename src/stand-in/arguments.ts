/** The command line of the stand-in `nvidia-smi`, parsed. */

import type { Dialect } from './machine/dialect.js';
import type { QueryKind } from './machine/words.js';

/** `--help` and similar, meant for people. */
export type Request =
  | Query
  | { kind: 'list'; ids: readonly string[] | null }
  | { kind: 'topo' | 'version' }
  | { kind: 'help'; about: 'gpu' | 'apps' | 'remapped' | 'program' }
  /** The table that the program prints without arguments. */
  | { kind: 'table' }
  | { kind: 'refused'; text: string; rc: number };

/** One of the three queries that answer in rows. */
export interface Query {
  kind: 'gpu' | 'apps' | 'remapped';
  fields: readonly string[];
  /** Indices, UUIDs, bus ids or serial numbers as given; null means all cards. */
  ids: readonly string[] | null;
  header: boolean;
  units: boolean;
}

/** Parses the arguments; `refused` comes with its text and exit code. */
export function understand(argv: readonly string[], { branch }: Dialect): Request {
  if (argv.length === 0) return { kind: 'table' };
  if (argv[0] === 'topo') return topo(argv.slice(1));
  const given = optionsOf(argv);
  const stranger = [...given.keys()].find((option) => !OPTIONS.has(option));
  if (stranger !== undefined) return UNPLAYED.has(stranger) ? unplayed(stranger) : unknown(stranger);
  if (given.has('--version')) return version(branch);
  const help = HELPS.find(([option]) => given.has(option));
  if (help !== undefined) return { kind: 'help', about: help[1] };
  const ids = given.get('-i')?.split(',') ?? null;
  if (given.has('-L')) return { kind: 'list', ids };
  const queries = QUERIES.filter(([option]) => given.has(option));
  const [query] = queries;
  if (query === undefined) return refused(COMBINATION);
  if (queries.length > 1) return refused(COMBINATION);
  if (query[1] === 'remapped' && branch < 450) return unknown(query[0]);
  return asQuery(query[1], given.get(query[0]) ?? '', given.get('--format') ?? '', ids);
}

/** The name under which a description's delays, hangs and raw answers refer to this kind of query. */
export function kindOf({ kind }: Request): QueryKind {
  return kind === 'table' || kind === 'refused' ? 'other' : kind;
}

const QUERIES = [
  ['--query-gpu', 'gpu'],
  ['--query-compute-apps', 'apps'],
  ['--query-remapped-rows', 'remapped'],
] as const;
const HELPS = [
  ['--help-query-gpu', 'gpu'],
  ['--help-query-compute-apps', 'apps'],
  ['--help-query-remapped-rows', 'remapped'],
  ['-h', 'program'],
] as const;
const LONG_FORMS: Readonly<Record<string, string>> = { '--list-gpus': '-L', '--id': '-i', '--help': '-h' };
const WITH_VALUE = new Set(['-i', '--format', ...QUERIES.map(([option]) => option as string)]);
const OPTIONS = new Set(['-L', '--version', ...WITH_VALUE, ...HELPS.map(([option]) => option as string)]);
/** Options of the real program that the gate does not need. */
const UNPLAYED = new Set(['-q', '-x', '-l', '-lms', '-f', '-d', '-s', 'dmon', 'pmon', 'nvlink', 'topo', 'mig']);
const COMBINATION = "Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.";

/** Options with their values; a value follows after `=` or as the next argument. */
function optionsOf(argv: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  for (let at = 0; at < argv.length; at += 1) {
    const [name = '', ...value] = (argv[at] ?? '').split('=');
    const option = LONG_FORMS[name] ?? name;
    const next = value.length === 0 && WITH_VALUE.has(option) ? argv[(at += 1)] : undefined;
    found.set(option, next ?? value.join('='));
  }
  return found;
}

function asQuery(kind: Query['kind'], fields: string, format: string, ids: Query['ids']): Request {
  const words = format.split(',').map((word) => word.trim());
  if (format === '') return refused('"--format=" switch is missing. Please run \'nvidia-smi -h\' for help.');
  const stranger = words.find((word) => !['csv', 'noheader', 'nounits'].includes(word));
  if (stranger !== undefined || !words.includes('csv'))
    return refused(`"${format}" is not a valid format. Please run 'nvidia-smi -h' for help.`);
  return {
    kind,
    fields: fields.split(',').map((field) => field.trim()),
    ids,
    header: !words.includes('noheader'),
    units: !words.includes('nounits'),
  };
}

function topo(rest: readonly string[]): Request {
  const [option] = rest;
  return rest.length === 1 && (option === '-m' || option === '--matrix') ? { kind: 'topo' } : refused(COMBINATION);
}

function version(branch: number): Request {
  if (branch < 510) return refused(COMBINATION);
  return branch < 550 ? unknown('--version') : { kind: 'version' };
}

function unknown(option: string): Request {
  return {
    kind: 'refused',
    text: `ERROR: Option ${option} is not recognized. Please run 'nvidia-smi -h'.\n\n`,
    rc: 255,
  };
}

function unplayed(option: string): Request {
  return refused(`The stand-in for nvidia-smi does not play ${option}. What it plays is told by 'nvidia-smi -h'.`);
}

function refused(sentence: string): Request {
  return { kind: 'refused', text: `${sentence}\n\n`, rc: 2 };
}
