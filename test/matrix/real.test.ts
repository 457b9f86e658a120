import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { COLUMNS, READINGS, readingOf } from '../../src/model/columns.js';
import type { Reading } from '../../src/model/snapshot.js';
import { parseGpuRows } from '../../src/probe/nvidia-smi/parse-gpu-rows.js';
import { parseList } from '../../src/probe/nvidia-smi/parse-list.js';
import { parseTopology } from '../../src/probe/nvidia-smi/parse-topology.js';
import { healthyMachine } from '../../src/stand-in/machine/build-machine.js';
import { watchMachine, type Look } from './watched-machine.js';

/** Output of real cards with 590 and 595 drivers, published by others: there to test against, not part of the project. */
const REAL = new URL('../../../shared/nvidia-smi/real/', import.meta.url);
const folders = existsSync(REAL) ? readdirSync(REAL) : [];

/** What a real card printed, and what the gate must make of it. */
const MACHINES: Readonly<Record<string, readonly [idle: string, load: string]>> = {
  // It drives a desktop: 596 MiB in use, and the compositor computes too.
  'geforce-rtx-4080-super': ['external', 'external'],
  'h100-80gb-hbm3': ['free', 'external'],
  'h100-mig': ['excluded', 'excluded'],
  h200: ['free', 'external'],
  'h200-mig': ['excluded', 'excluded'],
  l40s: ['free', 'external'],
};

/** Stands in where the folder is not there: an L40S, written by hand after the same driver's form. */
const BY_HAND = {
  'query-gpu-csv.txt':
    '# $ nvidia-smi --query-gpu=driver_version,count,name,uuid,pci.bus_id,index,persistence_mode,gpu_recovery_action,clocks_event_reasons.hw_slowdown,memory.total,memory.used,ecc.errors.uncorrected.volatile.total,retired_pages.pending,mig.mode.current,remapped_rows.pending,remapped_rows.failure,fabric.state,fabric.status --format=csv\n' +
    'driver_version, count, name, uuid, pci.bus_id, index, persistence_mode, gpu_recovery_action, clocks_event_reasons.hw_slowdown, memory.total [MiB], memory.used [MiB], ecc.errors.uncorrected.volatile.total, retired_pages.pending, mig.mode.current, remapped_rows.pending, remapped_rows.failure, fabric.state, fabric.status\n' +
    '590.48.01, 1, NVIDIA L40S, GPU-00000000-0000-0000-0000-000000000000, 00000000:00:09.0, 0, Enabled, None, Not Active, 46068 MiB, 0 MiB, 0, [N/A], [N/A], No, No, N/A, N/A\n\n\n',
  'query-compute-apps-per-process.txt':
    '# $ nvidia-smi --query-compute-apps=timestamp,gpu_name,gpu_bus_id,gpu_serial,gpu_uuid,pid,process_name,used_gpu_memory --format=csv\n' +
    'timestamp, gpu_name, gpu_bus_id, gpu_serial, gpu_uuid, pid, process_name, used_gpu_memory [MiB]\n\n\n',
  'list-l.txt': '# $ nvidia-smi -L\nGPU 0: NVIDIA L40S (UUID: GPU-00000000-0000-0000-0000-000000000000)\n\n\n',
  'topo-m.txt': '# $ nvidia-smi topo -m\n\t\u001b[4mGPU0\tCPU Affinity\u001b[0m\nGPU0\t X \t0-19\n\n\n',
};

/** A real run: the fields asked for, and the rows, cell by cell, without the header and the units. */
interface Run {
  readonly fields: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly stdout: string;
}

function run(folder: string, file: string): Run {
  const hand = Object.entries(BY_HAND).find(([name]) => file.endsWith(name))?.[1] ?? '';
  const text = folders.includes(folder) ? readFileSync(new URL(`${folder}/${file}`, REAL), 'utf8') : hand;
  const [command = '', ...lines] = text.trimEnd().split('\n');
  const rows = lines
    .slice(1)
    .map((line) => line.split(', ').map((cell) => cell.replace(/^(\S+) (?:MiB|%|W|MHz|us)$/, '$1')));
  const fields = /--query-[\w-]+=(\S+)/.exec(command)?.[1]?.split(',') ?? [];
  return { fields, rows, stdout: `${lines.join('\n')}\n` };
}

describe.each(folders.length > 0 ? folders : ['l40s'])('a real %s', (folder) => {
  test.each(['idle', 'load'])('is read without loss while it is under %s', (moment) => {
    const { fields, rows, stdout } = run(folder, `${moment}-query-gpu-csv.txt`);
    const parsed = parseGpuRows(stdout, fields);
    expect(parsed.rows).toHaveLength(rows.length);
    for (const [nth, row] of parsed.rows.entries()) {
      const cell = (field: string): string => rows[nth]?.[fields.indexOf(field)] ?? '';
      expect(row).toMatchObject({
        index: Number(cell('index')),
        uuid: cell('uuid'),
        name: cell('name'),
        pciBusId: cell('pci.bus_id'),
        driverVersion: cell('driver_version'),
        short: false,
      });
      for (const reading of READINGS) {
        const name = COLUMNS[reading].names.map(({ field }) => field).find((field) => fields.includes(field));
        // A number is told as one: `26.20` is `26.2`.
        const printed = name === undefined ? '' : cell(name);
        const told = reading === 'powerWatts' && printed !== '' ? String(Number(printed)) : printed;
        expect(said(row.readings[reading]), reading).toBe(told);
      }
    }
  });

  test('is looked at by the questions that the gate asks, and judged by what it says', async () => {
    const [idle, load] = [await lookAt(folder, 'idle'), await lookAt(folder, 'load')];
    expect([idle, load].map(({ occupancy }) => occupancy.cards.map(({ state }) => state))).toEqual(
      (folders.length > 0 ? MACHINES[folder] : ['free', 'free'])?.map((state) => [state]),
    );
    for (const { occupancy } of [idle, load]) {
      expect(occupancy.externalProbeOk).toBe(true);
      expect(Object.values(occupancy.probes).map(({ state }) => state)).toEqual(['ok', 'ok', 'ok', 'ok', 'off']);
      expect(occupancy.cards.flatMap(({ unhealthy }) => unhealthy)).toEqual([]);
    }
    const processes = run(folder, 'load-query-compute-apps-per-process.txt').rows;
    expect(load.occupancy.cards[0]?.processes).toBe(processes.length);
    expect(load.occupancy.cards[0]?.external?.processes ?? []).toEqual(
      processes.map((cells) => ({ pid: Number(cells[5]), name: cells[6], memoryMib: Number(cells[7]) })),
    );
  });

  test('is listed and connected', () => {
    expect(parseList(run(folder, 'capabilities-list-l.txt').stdout)).toEqual({ indices: [0], broken: [] });
    expect(parseTopology(run(folder, 'capabilities-topo-m.txt').stdout)).toEqual(new Map([[0, new Map()]]));
  });
});

function said(reading: Reading<string | number>): string {
  if (reading.kind === 'value') return String(reading.value);
  return reading.kind === 'absent' ? '' : reading.words;
}

/** The gate's own questions, answered out of what the real program printed; a field that it does not know it refuses. */
async function lookAt(folder: string, moment: 'idle' | 'load'): Promise<Look> {
  const watched = watchMachine(healthyMachine({ cards: 1 }));
  watched.retell = (_stdout, args) => {
    const asked = args.map((arg) => /^--query-([a-z-]+)=(\S+)/.exec(arg)).find((match) => match !== null);
    if (asked?.[1] === 'gpu') return pick(run(folder, `${moment}-query-gpu-csv.txt`), asked[2] ?? '');
    if (asked?.[1] === 'compute-apps') {
      return pick(run(folder, `${moment}-query-compute-apps-per-process.txt`), asked[2] ?? '');
    }
    const file = args[0] === '-L' ? 'list-l' : 'topo-m';
    return { rc: 0, stdout: run(folder, `capabilities-${file}.txt`).stdout };
  };
  return watched.look();
}

function pick({ fields, rows }: Run, asked: string): { rc: number; stdout: string } {
  const names = asked.split(',').map((name) => nameIn(fields, name));
  const stranger = names.find((name) => !fields.includes(name));
  if (stranger !== undefined) return { rc: 2, stdout: `Field "${stranger}" is not a valid field to query.\n\n` };
  const lines = rows.map((row) => names.map((name) => row[fields.indexOf(name)]).join(', '));
  return { rc: 0, stdout: lines.map((line) => `${line}\n`).join('') };
}

/** The name under which the capture has a column that the gate asks for; for others the one that heads it. */
function nameIn(fields: readonly string[], asked: string): string {
  const reading = readingOf(asked);
  if (reading === null) return asked === 'used_memory' ? 'used_gpu_memory' : asked;
  return COLUMNS[reading].names.map(({ field }) => field).find((field) => fields.includes(field)) ?? asked;
}
