import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { healthyMachine } from '../../src/stand-in/machine/build-machine.js';
import { cells, said } from './said.js';

const SURVEY = fileURLToPath(new URL('../../../shared/nvidia-smi/field-validity.tsv', import.meta.url));
const BRANCHES = ['418', '450', '470', '530', '535', '550', '565', '590', '610'];

test.each([
  ['every branch knows', 'index', BRANCHES],
  ['MIG came with', 'mig.mode.current', BRANCHES.slice(1)],
  ['reserved memory came with', 'memory.reserved', BRANCHES.slice(3)],
  [
    'slowdowns have their old name but on',
    'clocks_throttle_reasons.hw_slowdown',
    BRANCHES.filter((each) => each !== '530'),
  ],
  ['slowdowns have their new name from', 'clocks_event_reasons.hw_slowdown', BRANCHES.slice(3)],
  ['the fabric came with', 'fabric.state', BRANCHES.slice(4)],
  ['a required reset is told by', 'reset_status.reset_required', ['535', '550', '565']],
  ['remapped rows are among the columns from', 'remapped_rows.failure', ['590', '610']],
  ['a recovery action is told by', 'gpu_recovery_action', ['590', '610']],
  ['the kernel module has its own version from', 'kmd_version', ['610']],
  ['nobody knows', 'gpu.bogus_field', []],
])('%s %s', (_says, field, known) => {
  expect(BRANCHES.filter((branch) => isKnown(field, branch))).toEqual(known);
});

test.each(surveyed())('%s is a field of exactly the branches that were surveyed', (field, known, refused) => {
  expect(known.filter((branch) => !isKnown(field, branch))).toEqual([]);
  expect(refused.filter((branch) => isKnown(field, branch))).toEqual([]);
});

test('an unknown field is named, spoils the query and exits with 2', () => {
  const query = '--query-gpu=index,remapped_rows.pending,bogus --format=csv,noheader';
  expect(said(healthyMachine({ driver: '550.163.01' }), query)).toEqual({
    stdout: 'Field "remapped_rows.pending" is not a valid field to query.\n\n',
    rc: 2,
    hangs: false,
  });
});

test('an unknown driver state comes before an unknown field', () => {
  const machine = { ...healthyMachine(), fault: 'driver_not_loaded' as const };
  expect(said(machine, '--query-gpu=bogus --format=csv').rc).toBe(9);
});

test.each([
  ['450.191.01', '[Not Supported]', '[Not Supported]'],
  ['470.256.02', '[N/A]', 'N/A'],
  ['595.80', '[N/A]', 'N/A'],
])(
  'driver %s says %s where a card has no such thing, and N/A for the memory of a card without such a sensor',
  (driver, none) => {
    const machine = healthyMachine({ cards: 1, driver, model: 'RTX 3090' });
    expect(cells(machine, 'ecc.mode.current,temperature.memory')).toEqual([[none, 'N/A']]);
  },
);

test.each([
  ['550.163.01', 'state  Completed', 'status Success', '[N/A]'],
  ['590.48.01', 'Completed', 'Success', 'N/A'],
])('driver %s tells the fabric as "%s", and a machine without one', (driver, state, status, none) => {
  expect(cells(healthyMachine({ cards: 1, driver }), 'fabric.state,fabric.status')).toEqual([[state, status]]);
  expect(cells(healthyMachine({ cards: 1, driver, model: 'A100' }), 'fabric.state,fabric.status')).toEqual([
    [none, none],
  ]);
});

test('remapped rows are 0 and 1 in their own query, and No and Yes among the columns', () => {
  const machine = healthyMachine({ cards: 1 });
  machine.cards.forEach(
    (card) => (card.remapped_rows = { correctable: 2, uncorrectable: 1, pending: true, failure: false }),
  );
  const names = 'remapped_rows.correctable,remapped_rows.pending,remapped_rows.failure';
  expect(cells(machine, names)).toEqual([['2', 'Yes', 'No']]);
  expect(cells(machine, names, 'csv,noheader', 'remapped-rows')).toEqual([['2', '1', '0']]);
});

test('a card that shares the memory of its machine says so in every memory column', () => {
  const machine = healthyMachine({ cards: 1, model: 'GB10' });
  expect(cells(machine, 'memory.total,memory.reserved,memory.used,memory.free')).toEqual([Array(4).fill('[N/A]')]);
});

test.each(['470.256.02', '550.163.01', '590.48.01', '610.10'])(
  'every name in the help of driver %s can be asked for',
  (driver) => {
    const machine = healthyMachine({ cards: 1, driver });
    const names = [...said(machine, '--help-query-gpu').stdout.matchAll(/"([\w.]+)"/g)].map((found) => found[1]);
    expect(names.length).toBeGreaterThan(80);
    expect(said(machine, `--query-gpu=${names.join(',')} --format=csv`).rc).toBe(0);
  },
);

function isKnown(field: string, branch: string): boolean {
  return said(healthyMachine({ cards: 1, driver: `${branch}.10` }), `--query-gpu=${field} --format=csv`).rc === 0;
}

/** Each field with the branches that took it and those that refused it; one of our own where the survey is not there. */
function surveyed(): [field: string, known: string[], refused: string[]][] {
  if (!existsSync(SURVEY)) return [['memory.used', BRANCHES, []]];
  const [head = [], ...lines] = readFileSync(SURVEY, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'));
  const branches = head.slice(1).map((name) => name.slice(0, 3));
  return lines.map(([field = '', ...taken]) => [
    field,
    branches.filter((_, column) => taken[column] === 'yes'),
    branches.filter((_, column) => taken[column] !== 'yes'),
  ]);
}
