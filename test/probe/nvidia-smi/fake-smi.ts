import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ScriptFolder } from './program.js';

/** The machine that the fake program simulates; a test changes it between runs. */
export interface Little {
  driver: string;
  cards: {
    uuid: string;
    bus: string;
    columns: Record<string, string>;
    broken: { words: string; rc: number } | 'silent' | null;
  }[];
  /** Fields that the driver does not know. */
  refused: string[];
  /** By kind of query, an answer in place of the computed one. */
  instead: Partial<Record<Kind, { rc: number; out: string }>>;
  /** Kinds of query that hang. */
  hangs: Kind[];
}
type Kind = 'gpus' | 'apps' | 'remapped' | 'list' | 'topo';

export interface FakeSmi {
  readonly program: string;
  set(change: Partial<Little>): void;
  /** The command lines of all runs so far, with the complete field lists. */
  runs(kind?: Kind): string[];
}

/** A machine of `count` healthy cards and a small real program that answers for it, as in the captures. */
export function fakeSmi(scripts: ScriptFolder, count: number): FakeSmi {
  let machine: Little = { driver: '590.48.01', cards: cards(count), refused: [], instead: {}, hangs: [] };
  const file = join(scripts.folder, 'machine.json');
  const log = join(scripts.folder, 'runs');
  writeFileSync(file, JSON.stringify(machine));
  writeFileSync(log, '');
  const body = join(scripts.folder, 'fake-smi.cjs');
  writeFileSync(body, `(${answer.toString()})(${JSON.stringify(file)}, ${JSON.stringify(log)});\n`);
  return {
    program: scripts.program(`exec '${process.execPath}' '${body}' "$@"`),
    set: (change) => {
      machine = { ...machine, ...change };
      writeFileSync(file, JSON.stringify(machine));
    },
    runs: (kind) =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line !== '' && (kind === undefined || line.startsWith(`${kind} `)))
        .map((line) => line.slice(line.indexOf(' ') + 1)),
  };
}

export function cards(count: number): Little['cards'] {
  return Array.from({ length: count }, (_, at) => ({ uuid: uuidOf(at), bus: busOf(at), columns: {}, broken: null }));
}

export const uuidOf = (at: number): string => `GPU-0000000${at}-0000-4000-8000-00000000000${at}`;
export const busOf = (at: number): string => `00000000:1${at}:00.0`;

/** Becomes the program's source: it must not refer to anything outside. */
function answer(file: string, log: string): void {
  const fs = require('node:fs') as typeof import('node:fs');
  const machine = JSON.parse(fs.readFileSync(file, 'utf8')) as Little;
  const args = process.argv.slice(2);
  const query = args.find((arg) => arg.startsWith('--query-')) ?? '';
  const asked = (query.split('=')[1] ?? '').split(',');
  const kinds: Record<string, Kind> = {
    '--query-gpu': 'gpus',
    '--query-compute-apps': 'apps',
    '--query-remapped-rows': 'remapped',
  };
  const kind: Kind = kinds[query.split('=')[0] ?? ''] ?? (args[0] === '-L' ? 'list' : 'topo');
  fs.appendFileSync(log, `${kind} ${args.join(' ')}\n`);
  const end = (out: string, rc: number): void => {
    process.stdout.write(out);
    process.exitCode = rc;
  };
  if (machine.hangs.includes(kind)) {
    process.on('SIGTERM', () => {});
    setInterval(() => {}, 1000);
    if (kind === 'gpus') process.stdout.write(`0, ${machine.cards[0]?.uuid}, half of a ro`);
    return;
  }
  const instead = machine.instead[kind];
  if (instead) return end(instead.out, instead.rc);
  const refused = kind === 'gpus' && asked.find((field) => machine.refused.includes(field));
  if (refused) return end(`Field "${refused}" is not a valid field to query.\n\n`, 2);
  const bad = machine.cards.find((card) => card.broken !== null && card.broken !== 'silent')?.broken as
    | { words: string; rc: number }
    | undefined;
  const at = machine.cards.findIndex((card) => card.broken !== null && card.broken !== 'silent');
  const sentence = (place: number, words: string): string =>
    `Unable to determine the device handle for gpu ${machine.cards[place]?.bus.slice(4)}: ${words}\n`;
  if (kind === 'list') {
    const lines = machine.cards.map((card, place) => {
      if (card.broken === 'silent') return sentence(place, 'Insufficient Permissions');
      return card.broken ? sentence(place, card.broken.words) : `GPU ${place}: NVIDIA H100 (UUID: ${card.uuid})\n`;
    });
    return end(lines.join(''), bad?.rc ?? (machine.cards.some((card) => card.broken) ? 4 : 0));
  }
  const only = args[0] === '-i' ? (args[1] ?? '').split(',').map(Number) : machine.cards.map((_card, place) => place);
  if (bad && only.includes(at)) return end(sentence(at, bad.words), bad.rc);
  const row = (place: number): string => {
    const card = machine.cards[place];
    const plain: Record<string, string> = {
      index: String(place),
      uuid: card?.uuid ?? '',
      gpu_uuid: card?.uuid ?? '',
      'pci.bus_id': card?.bus ?? '',
      driver_version: machine.driver,
      count: String(machine.cards.length),
      'memory.used': '4',
      'memory.total': '81559',
      'remapped_rows.pending': kind === 'remapped' ? '0' : 'No',
      'remapped_rows.failure': kind === 'remapped' ? '1' : 'No',
      name: 'NVIDIA H100 80GB HBM3',
    };
    return `${asked.map((field) => card?.columns[field] ?? plain[field] ?? '[N/A]').join(', ')}\n`;
  };
  if (kind === 'topo') {
    const names = machine.cards.map((_card, place) => `GPU${place}`);
    const rows = names.map(
      (name, place) => `${name}\t${names.map((_n, other) => (other === place ? ' X ' : 'NV18')).join('\t')}`,
    );
    return end(`\t${names.join('\t')}\tCPU Affinity\n${rows.join('\n')}\n`, 0);
  }
  if (kind === 'apps') return end('', 0);
  end(
    only
      .filter((place) => machine.cards[place]?.broken !== 'silent')
      .map(row)
      .join(''),
    0,
  );
}
