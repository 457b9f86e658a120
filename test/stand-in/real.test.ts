import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { cardAt, healthyMachine } from '../../src/stand-in/machine/build-machine.js';
import type { Machine } from '../../src/stand-in/machine/machine.js';
import { cells, said } from './said.js';

/** Output of real cards with 590 and 595 drivers, published by others: there to test against, not part of the project. */
const REAL = fileURLToPath(new URL('../../../shared/nvidia-smi/real', import.meta.url));
const folders = existsSync(REAL) ? readdirSync(REAL) : [];

/** A real run: the command without the program's name, and what was printed. */
interface Run {
  command: string;
  stdout: string;
}

/** What stands in where the folder is not there: a shorter query of the same driver, written by hand. */
const BY_HAND: Run = {
  command:
    '--query-gpu=index,gpu_name,memory.used,power.draw,clocks_throttle_reasons.hw_slowdown,fan.speed --format=csv',
  stdout:
    'index, name, memory.used [MiB], power.draw [W], clocks_event_reasons.hw_slowdown, fan.speed [%]\n0, NVIDIA H100 80GB HBM3, 0 MiB, 69.85 W, Not Active, [N/A]\n',
};

test('columns are headed by their first name and their unit, as real ones are', () => {
  const runs = [BY_HAND, ...folders.map((folder) => run(folder, 'idle-query-gpu-csv.txt'))];
  for (const { command, stdout } of runs) {
    const { machine, asked, places } = knownPart(command);
    const head = stdout.split('\n')[0]?.split(', ') ?? [];
    expect(places.length).toBeGreaterThan(5);
    expect(cells(machine, asked.join(','), 'csv')[0]).toEqual(places.map((place) => head[place]));
  }
});

test('an idle H100 prints what a real one printed, but for the columns that the stand-in leaves empty', () => {
  const { command, stdout } = folders.includes('h100-80gb-hbm3')
    ? run('h100-80gb-hbm3', 'idle-query-gpu-csv.txt')
    : BY_HAND;
  const { machine, asked, places } = knownPart(command);
  Object.assign(cardAt(machine, 0), {
    uuid: 'GPU-00000000-0000-0000-0000-000000000000',
    bus_id: '00000000:00:09.0',
    serial: '0000000000000',
    memory_reserved_mib: 478.5,
    temperature_c: 41,
    temperature_memory_c: 48,
    power_draw_w: 69.85,
  });
  const real = stdout.split('\n')[1]?.split(', ') ?? [];
  const ours = cells(machine, asked.join(','), 'csv')[1] ?? [];
  const different = asked.filter((_, column) => ours[column] !== '[N/A]' && ours[column] !== real[places[column] ?? 0]);
  // Readings taken at another moment, and what the model does not say of its power.
  expect(different.filter((field) => !['timestamp', 'power.draw.instant'].includes(field))).toEqual([]);
});

describe.each(folders.length > 0 ? folders : ['nowhere'])('a machine like %s', (folder) => {
  test('is listed, versioned and connected as the real one', () => {
    const real = folders.length > 0 ? (file: string): string => run(folder, file).stdout : byHand;
    const list = real('capabilities-list-l.txt');
    const machine = oneCard(real('capabilities-version.txt').match(/DRIVER version +: (\S+)/)?.[1] ?? '590.48.01');
    const card = cardAt(machine, 0);
    [, card.name = '', card.uuid = ''] = /^GPU 0: (.*) \(UUID: (.*)\)/.exec(list) ?? [];
    const devices = [...list.matchAll(/MIG (\S+) +Device.*UUID: (.*)\)/g)];
    card.mig = { enabled: true, devices: devices.map(([, profile = '', uuid = '']) => ({ profile, uuid })) };
    expect(said(machine, '-L').stdout).toBe(list);
    expect(said(machine, '--version').stdout).toBe(real('capabilities-version.txt'));
    expect(said(machine, 'topo -m').stdout).toBe(real('capabilities-topo-m.txt').replace(/\t\d+-\d+\t/, '\t0-95\t'));
  });
});

function byHand(file: string): string {
  const texts: Record<string, string> = {
    'capabilities-list-l.txt': 'GPU 0: NVIDIA H200 (UUID: GPU-1)\n  MIG 2g.35gb     Device  0: (UUID: MIG-1)\n',
    'capabilities-version.txt':
      'NVIDIA-SMI version  : 590.48.01\nNVML version        : 590.48\nDRIVER version      : 590.48.01\nCUDA Version        : 13.1\n',
  };
  return texts[file] ?? said(oneCard('590.48.01'), 'topo -m').stdout;
}

function oneCard(driver: string): Machine {
  return healthyMachine({ cards: 1, driver });
}

/** The fields of a real query that the stand-in has, with their places in it, and a machine with one card. */
function knownPart(command: string): { machine: Machine; asked: string[]; places: number[] } {
  const fields = /--query-gpu=(\S+)/.exec(command)?.[1]?.split(',') ?? [];
  const machine = oneCard(fields.includes('kmd_version') ? '595.80' : '590.48.01');
  const places = [...fields.keys()].filter(
    (place) => said(machine, `--query-gpu=${fields[place]} --format=csv`).rc === 0,
  );
  return { machine, asked: places.map((place) => fields[place] ?? ''), places };
}

/** The files start with the command as a comment and end in two empty lines. */
function run(folder: string, file: string): Run {
  const [first = '', ...lines] = readFileSync(join(REAL, folder, file), 'utf8')
    .trimEnd()
    .split('\n');
  return { command: first.replace('# $ nvidia-smi ', ''), stdout: `${lines.join('\n')}\n` };
}
