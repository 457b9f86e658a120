import { expect, test } from 'vitest';
import { answer } from '../../src/stand-in/answer.js';
import { cardAt, healthyMachine, putLoad } from '../../src/stand-in/machine/build-machine.js';
import type { Machine } from '../../src/stand-in/machine/machine.js';
import { cells, said } from './said.js';

const APPS = '--query-compute-apps=gpu_uuid,pid,process_name,used_memory --format=csv';
const USED = '--query-gpu=index,memory.used --format=csv,noheader';

test('a delay comes before the first line, for all queries or for some', () => {
  const machine = { ...healthyMachine({ cards: 1 }), delay_ms: 250 };
  expect(answer(machine, ['-L'], new Date()).steps[0]).toEqual({ kind: 'wait', ms: 250 });
  const picky = { ...machine, delay_ms: { list: 40 } };
  expect(answer(picky, ['-L'], new Date()).steps[0]).toEqual({ kind: 'wait', ms: 40 });
  expect(answer(picky, ['topo', '-m'], new Date()).steps[0]?.kind).toBe('print');
});

test('each row is a write of its own', () => {
  const { steps } = answer(healthyMachine({ cards: 3 }), USED.split(' '), new Date());
  expect(steps.map((step) => step.kind === 'print' && step.text)).toEqual(['0, 0 MiB\n', '1, 0 MiB\n', '2, 0 MiB\n']);
});

test.each([
  ['every query stops in init', { at: 'init' }, { gpu: true, list: true, apps: true }],
  [
    'only the kinds that are named stop in init',
    { at: 'init', kinds: ['apps'] },
    { gpu: false, list: false, apps: true },
  ],
  ['a card stops the readings', { at: 1 }, { gpu: true, list: false, apps: false }],
  ['a card stops the kinds that are named', { at: 1, kinds: ['list'] }, { gpu: false, list: true, apps: false }],
  ['a card that is not there stops nothing', { at: 7 }, { gpu: false, list: false, apps: false }],
] satisfies [string, Machine['hang'], object][])('%s', (_says, hang, expected) => {
  const machine = { ...healthyMachine({ cards: 2 }), hang };
  const hangs = (command: string): boolean => said(machine, command).hangs;
  expect({ gpu: hangs(USED), list: hangs('-L'), apps: hangs(APPS) }).toEqual(expected);
});

test('raw answers replace the true one, or cut it after some rows', () => {
  const machine = healthyMachine({ cards: 3 });
  machine.raw = {
    list: { kind: 'verbatim', stdout: 'odd\n', rc: 7 },
    gpu: { kind: 'cut', rows: 2, end: 'Segmentation fault\n', rc: 139 },
  };
  expect(said(machine, '-L')).toEqual({ stdout: 'odd\n', rc: 7, hangs: false });
  expect(said(machine, USED)).toEqual({ stdout: '0, 0 MiB\n1, 0 MiB\nSegmentation fault\n', rc: 139, hangs: false });
});

test('commas in process names are question marks, other characters stand as they are', () => {
  const machine = healthyMachine({ cards: 1 });
  putLoad(cardAt(machine, 0), 10, { pid: 4, name: 'python "a, b" ü', memory_mib: null });
  expect(said(machine, APPS).stdout.split('\n').slice(0, 2)).toEqual([
    'gpu_uuid, pid, process_name, used_gpu_memory [MiB]',
    `${cardAt(machine, 0).uuid}, 4, python "a? b" ü, [N/A]`,
  ]);
});

test('a card that the driver cannot find is left out in silence, counted and named by -L; before 535 it spoils the query', () => {
  const machine = healthyMachine({ cards: 3, driver: '535.261.03' });
  cardAt(machine, 1).fault = { kind: 'handle', error: 'not_found' };
  expect(cells(machine, 'index,count')).toEqual([
    ['0', '3'],
    ['2', '3'],
  ]);
  expect(said(machine, '-L').stdout).toContain(
    'Unable to determine the device handle for gpu 0000:29:00.0: Not Found\n',
  );
  expect(said(machine, '-i 1 --query-gpu=index --format=csv')).toEqual({
    stdout: 'No devices were found\n',
    rc: 6,
    hangs: false,
  });
  expect(said({ ...machine, driver: '470.256.02' }, USED).rc).toBe(6);
});

test('where every card is off the bus there are no devices', () => {
  const machine = healthyMachine({ cards: 1 });
  cardAt(machine, 0).fault = { kind: 'gone' };
  expect(said(machine, USED)).toEqual({ stdout: 'No devices were found\n', rc: 6, hangs: false });
  expect(said(machine, '-L')).toEqual({ stdout: 'No devices found.\n', rc: 0, hangs: false });
});

test('a card can be asked for by index, UUID, bus id and serial number, in the order of the bus', () => {
  const machine = healthyMachine({ cards: 4 });
  cardAt(machine, 3).serial = '77';
  const { uuid } = cardAt(machine, 2);
  const query = '--query-gpu=index --format=csv,noheader';
  expect(said(machine, `--id=77,${uuid},0000:29:00.0 ${query}`).stdout).toBe('1\n2\n3\n');
  expect(said(machine, `--id 2,0 ${query}`).stdout).toBe('0\n2\n');
});

test('topo -m leaves out the card that is gone, and keeps what connects the others', () => {
  const machine = healthyMachine({ cards: 4, islands: 2 });
  cardAt(machine, 1).fault = { kind: 'gone' };
  const [head, ...lines] = said(machine, 'topo -m').stdout.split('\n');
  expect(head).toBe('\t\u001B[4mGPU0\tGPU1\tGPU2\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\u001B[0m');
  expect(lines.slice(0, 3).map((line) => line.split('\t').slice(0, 4))).toEqual([
    ['GPU0', ' X ', 'SYS', 'SYS'],
    ['GPU1', 'SYS', ' X ', 'NV18'],
    ['GPU2', 'SYS', 'NV18', ' X '],
  ]);
});

test('a time is the local one, to the millisecond', () => {
  expect(cells(healthyMachine({ cards: 1 }), 'timestamp')).toEqual([['2026/07/14 08:12:38.696']]);
});

test.each([
  [
    'an unknown option',
    '--frobnicate',
    "ERROR: Option --frobnicate is not recognized. Please run 'nvidia-smi -h'.\n\n",
    255,
  ],
  [
    'two queries at once',
    '--query-gpu=index --query-compute-apps=pid --format=csv',
    "Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n\n",
    2,
  ],
  [
    'a query without a format',
    '--query-gpu=index',
    '"--format=" switch is missing. Please run \'nvidia-smi -h\' for help.\n\n',
    2,
  ],
  [
    'an unknown format',
    '--query-gpu=index --format=xml',
    '"xml" is not a valid format. Please run \'nvidia-smi -h\' for help.\n\n',
    2,
  ],
])('%s is refused', (_says, command, stdout, rc) => {
  expect(said(healthyMachine(), command)).toEqual({ stdout, rc, hangs: false });
});

test('asked nothing it prints a table whose lines are all as wide as the heading, and exits with 14 where an infoROM is corrupt', () => {
  const machine = healthyMachine({ cards: 2 });
  putLoad(cardAt(machine, 1), 900, { pid: 77, name: 'python3', memory_mib: 880 });
  cardAt(machine, 0).fault = { kind: 'queries', which: 'dynamic', error: 'unknown' };
  const { stdout, rc } = answered(machine);
  const lines = stdout.split('\n').filter((line) => /^[|+]/.test(line));
  expect(rc).toBe(0);
  expect(new Set(lines.map((line) => line.length))).toEqual(new Set([91]));
  expect(stdout).toMatch(/\| {3}1 {2}NVIDIA H100 80GB HBM3 +On +\| +00000000:29:00\.0 Off \| +0 \|/);
  expect(stdout).toMatch(/900MiB \/ 81559MiB \|[\s\S]*77 +C +python3 +880MiB \|/);
  expect(answered({ ...machine, fault: 'inforom_corrupted' }).rc).toBe(14);
});

/** Of a run without arguments. */
function answered(machine: Machine): { stdout: string; rc: number } {
  const { steps, rc } = answer(machine, [], new Date(0));
  return { stdout: steps.map((step) => (step.kind === 'print' ? step.text : '')).join(''), rc };
}
