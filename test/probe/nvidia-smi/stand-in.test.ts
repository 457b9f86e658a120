import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cardUuid } from '../../../src/model/card.js';
import type { Eyes } from '../../../src/model/ports/eyes.js';
import type { Off, Probed, Snapshot } from '../../../src/model/snapshot.js';
import { cardAt, healthyMachine, putLoad } from '../../../src/stand-in/machine/build-machine.js';
import type { Machine } from '../../../src/stand-in/machine/machine.js';
import { eyesOnCards } from '../../support/eyes-on-cards.js';
import { bundle } from '../../support/running/bundle.js';
import { createScriptFolder, until } from './program.js';

// The eyes on the stand-in `nvidia-smi`, a real program that answers as the real one does.
const scripts = createScriptFolder();
const machineFile = join(scripts.folder, 'machine.json');
const runLog = join(scripts.folder, 'runs.jsonl');
let program = '';
beforeAll(async () => {
  const path = await bundle(join(import.meta.dirname, '../../../src/stand-in/nvidia-smi.ts'), scripts.folder);
  const env = `STAND_IN_MACHINE='${machineFile}' STAND_IN_LOG='${runLog}'`;
  program = scripts.program(`export ${env}; exec '${process.execPath}' '${path}' "$@"`);
});
beforeEach(() => writeFileSync(runLog, ''));
afterAll(() => scripts.cleanUp());

const isThere = (machine: Machine): void => writeFileSync(machineFile, JSON.stringify(machine));

function eyesOn(machine: Machine, timeoutMs = 10_000): Eyes {
  isThere(machine);
  return eyesOnCards(program, timeoutMs, timeoutMs + 5000);
}

function seen<T>(probed: Probed<T> | Off): T {
  if (probed.kind !== 'seen') throw new Error(`expected to see, got ${JSON.stringify(probed)}`);
  return probed.value;
}
/** Gone from 590 on. */
const DROPPED = 'reset_status.reset_required';
const indices = ({ gpus }: Snapshot): unknown[] => seen(gpus).rows.map(({ index }) => index);
/** Runs that were started with this option; a first run that the driver refuses for a field it dropped is not counted. */
const starts = (option: string): string[] =>
  readFileSync(runLog, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"start"') && line.includes(option) && !line.includes(DROPPED));

describe('a healthy machine is seen whole on every driver branch', () => {
  test.each(['418.226.00', '470.256.02', '550.163.01', '590.48.01', '610.43.02'])('%s', async (driver) => {
    const machine = healthyMachine({ driver, model: 'A100', islands: 2 });
    putLoad(cardAt(machine, 5), 12_000, { pid: 4242, name: 'python, "x"', memory_mib: 11_900 });
    const snapshot = await eyesOn(machine).fresh();
    expect(indices(snapshot)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(seen(snapshot.gpus)).toMatchObject({ broken: [], driverCount: 8, driverVersion: driver });
    expect(seen(snapshot.gpus).rows[5]?.readings.memoryUsedMib).toEqual({ kind: 'value', value: 12_000 });
    expect(snapshot.health.kind).toBe('seen');
    expect(seen(snapshot.processes)).toMatchObject([{ uuid: cardAt(machine, 5).uuid, pid: 4242, memoryMib: 11_900 }]);
    const links = snapshot.links?.get(cardUuid(cardAt(machine, 0).uuid));
    expect(links?.get(cardUuid(cardAt(machine, 3).uuid))).toBe('NV');
    expect(links?.get(cardUuid(cardAt(machine, 4).uuid))).toBe('SYS');
    expect(snapshot.remembered).toHaveLength(8);
  });
});

describe('a failed row remapping is seen by whichever query the driver has', () => {
  test.each(['470.256.02', '535.261.03', '590.48.01'])('%s', async (driver) => {
    const machine = healthyMachine({ driver, model: 'A100' });
    cardAt(machine, 2).remapped_rows = { correctable: 0, uncorrectable: 9, pending: false, failure: true };
    const { gpus } = await eyesOn(machine).fresh();
    const words = seen(gpus).rows.map(({ readings: { rowRemapFailure } }) =>
      rowRemapFailure.kind === 'value' ? rowRemapFailure.value : null,
    );
    expect(words).toEqual(['No', 'No', 'Yes', 'No', 'No', 'No', 'No', 'No']);
  });
});

describe('one broken card is one broken card', () => {
  test.each([
    ['lost', '470.256.02'],
    ['not_found', '470.256.02'],
    ['no_permission', '470.256.02'],
    ['lost', '535.261.03'],
    ['reset_required', '535.261.03'],
    ['unknown', '535.261.03'],
    ['access_blocked', '535.261.03'],
    ['insufficient_power', '535.261.03'],
    ['not_found', '535.261.03'],
    ['no_permission', '590.48.01'],
    ['lost', '590.48.01'],
  ] as const)('%s on %s', async (error, driver) => {
    const machine = healthyMachine({ driver });
    cardAt(machine, 3).fault = { kind: 'handle', error };
    const snapshot = await eyesOn(machine).fresh();
    expect(indices(snapshot)).toEqual([0, 1, 2, 4, 5, 6, 7]);
    expect(seen(snapshot.gpus).broken).toMatchObject([
      { index: 3, pciBusId: cardAt(machine, 3).bus_id, denied: error === 'no_permission' },
    ]);
    expect(snapshot.health.kind).toBe('seen');
    expect(snapshot.processes.kind).toBe('seen');
  });

  test.each(['all', 'dynamic'] as const)('whose columns are error words: %s', async (which) => {
    const machine = healthyMachine();
    cardAt(machine, 3).fault = { kind: 'queries', which, error: 'lost' };
    const snapshot = await eyesOn(machine).fresh();
    expect(indices(snapshot)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(seen(snapshot.gpus).rows[3]?.readings.memoryUsedMib).toEqual({ kind: 'error', words: '[GPU is lost]' });
    expect(seen(snapshot.gpus).broken).toEqual([]);
  });
});

describe('a machine of which nothing can be seen is blind', () => {
  test.each([
    'driver_not_loaded',
    'library_mismatch',
    'no_library',
    'no_devices',
    'init_unknown_error',
    'init_gpu_lost',
    'init_access_blocked',
  ] as const)('%s', async (fault) => {
    const { gpus, health, processes, remembered } = await eyesOn({ ...healthyMachine(), fault }).fresh();
    expect(gpus).toMatchObject({
      kind: 'blind',
      why: 'exit',
      detail: expect.stringMatching(/exit code \d+ of nvidia-smi/),
    });
    expect(health).toEqual(gpus);
    expect(processes).toMatchObject({ kind: 'blind', why: 'exit' });
    expect(remembered).toEqual([]);
    expect(starts('-L')).toEqual([]);
  });
});

test('a driver that lists processes of no card is not one where nobody computes', async () => {
  const { processes, gpus } = await eyesOn({ ...healthyMachine(), process_list: 'not_supported' }).fresh();
  expect(processes).toMatchObject({ kind: 'blind', why: 'unavailable' });
  expect(gpus.kind).toBe('seen');
});

test('half its rows and a hang are no small machine, one of a kind runs at a time, and sight comes back', async () => {
  const eyes = eyesOn({ ...healthyMachine(), hang: { at: 3 } }, 1500);
  const hung = await eyes.fresh();
  expect(hung.gpus).toMatchObject({ kind: 'blind', why: 'timeout' });
  expect(hung.processes.kind).toBe('seen');
  expect(starts('--query-gpu')).toHaveLength(1);
  isThere(healthyMachine());
  await until('eight cards', async () => (await eyes.fresh()).gpus.kind === 'seen');
});

test('a page that cannot wait shows what is known, and the look ends for the next one', async () => {
  const eyes = eyesOn({ ...healthyMachine(), delay_ms: { gpu: 700 } });
  const scraped = await eyes.recent(1000, 400);
  expect(scraped).toMatchObject({ gpus: { kind: 'blind', why: 'timeout' }, docker: { kind: 'seen' } });
  expect(indices(await eyes.recent(1000, 10_000))).toHaveLength(8);
  expect(starts('--query-gpu')).toHaveLength(1);
});
