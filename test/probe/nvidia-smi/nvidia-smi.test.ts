import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { COLUMNS, READINGS } from '../../../src/model/columns.js';
import type { GpusSeen, Off, Probed } from '../../../src/model/snapshot.js';
import { createNvidiaSmi, type NvidiaSmi } from '../../../src/probe/nvidia-smi/nvidia-smi.js';
import { busOf, cards, fakeSmi, uuidOf, type FakeSmi } from './fake-smi.js';
import { createScriptFolder, recordingLog, movableClock, until, type ScriptFolder } from './program.js';

let scripts: ScriptFolder;
let smiProgram: FakeSmi;
let clock = movableClock();
const folders: ScriptFolder[] = [];
beforeEach(() => {
  scripts = createScriptFolder();
  folders.push(scripts);
  smiProgram = fakeSmi(scripts, 4);
  clock = movableClock();
});
afterAll(() => {
  for (const each of folders) each.cleanUp();
});

const eye = (options: { timeoutMs?: number; checkHealth?: boolean; program?: string } = {}): NvidiaSmi =>
  createNvidiaSmi({
    program: smiProgram.program,
    timeoutMs: 10_000,
    checkHealth: true,
    clock,
    log: recordingLog(),
    ...options,
  });
/** Fields that came with 590. */
const OLD = READINGS.flatMap((reading) => COLUMNS[reading].names.filter(({ from }) => from === 590)).map(
  ({ field }) => field,
);

function seen<T>(probed: Probed<T> | Off): T {
  if (probed.kind !== 'seen') throw new Error(`expected to see, got ${JSON.stringify(probed)}`);
  return probed.value;
}
const indices = (gpus: Probed<GpusSeen>): unknown[] => seen(gpus).rows.map(({ index }) => index);

describe('a healthy machine', () => {
  test('is seen in one run, with its health', async () => {
    const { gpus, health } = await eye().gpus();
    expect(health.kind).toBe('seen');
    expect(seen(gpus)).toMatchObject({ broken: [], driverCount: 4, driverVersion: '590.48.01' });
    expect(seen(gpus).rows[3]).toMatchObject({
      index: 3,
      uuid: uuidOf(3),
      pciBusId: busOf(3),
      name: 'NVIDIA H100 80GB HBM3',
      readings: {
        memoryUsedMib: { kind: 'value', value: 4 },
        rowRemapFailure: { kind: 'value', value: 'No' },
        fabricState: { kind: 'cannot_say' },
      },
    });
    expect(smiProgram.runs()).toHaveLength(1);
    expect(smiProgram.runs()[0]).toMatch(/^--query-gpu=index,uuid,.*,name --format=csv,noheader,nounits$/);
  });

  test('is not asked about health when nobody wants to know', async () => {
    const { health } = await eye({ checkHealth: false }).gpus();
    expect(health).toEqual({ kind: 'off' });
    expect(smiProgram.runs()).toHaveLength(1);
    expect(smiProgram.runs()[0]).not.toMatch(/ecc|retired|clocks|fabric|reset|remapped|recovery/);
  });
});

describe('a field that the driver does not know', () => {
  test('costs that field alone, and is not asked again', async () => {
    smiProgram.set({ refused: ['gpu_recovery_action', 'mig.mode.current'] });
    const smi = eye();
    const { gpus, health } = await smi.gpus();
    expect(seen(gpus).rows[0]).toMatchObject({
      readings: {
        migMode: { kind: 'absent' },
        memoryTotalMib: { kind: 'value', value: 81559 },
        recoveryAction: { kind: 'absent' },
        fabricState: { kind: 'cannot_say' },
      },
    });
    expect(health.kind).toBe('seen');
    expect(smiProgram.runs()).toHaveLength(3);
    await smi.gpus();
    expect(smiProgram.runs()).toHaveLength(4);
  });

  test('is asked under the other name where it has one', async () => {
    smiProgram.set({
      refused: ['clocks_throttle_reasons.hw_slowdown'],
      cards: withColumn({ 'clocks_event_reasons.hw_slowdown': 'Active' }),
    });
    const { gpus } = await eye().gpus();
    expect(seen(gpus).rows[0]?.readings.hwSlowdown).toEqual({ kind: 'value', value: 'Active' });
  });

  test('is tried again when the driver is another one', async () => {
    smiProgram.set({ refused: ['fabric.state'], driver: '470.256.02' });
    const smi = eye();
    await smi.gpus();
    smiProgram.set({ refused: [], driver: '590.48.01' });
    await smi.gpus();
    const { gpus } = await smi.gpus();
    expect(seen(gpus).rows[0]?.readings.fabricState).toEqual({ kind: 'cannot_say', words: '[N/A]' });
  });

  test('blinds only where a row would be nobody’s without it', async () => {
    smiProgram.set({ refused: ['uuid'] });
    const { gpus, health } = await eye().gpus();
    expect(gpus).toMatchObject({
      kind: 'blind',
      why: 'exit',
      detail: expect.stringContaining('Field "uuid" is not a valid field'),
    });
    expect(health).toEqual(gpus);
    expect(smiProgram.runs()).toHaveLength(1);
  });

  test('blinds health where it is the last of them', async () => {
    const health = READINGS.filter((reading) => COLUMNS[reading].role === 'health');
    smiProgram.set({
      refused: health.flatMap((reading) => COLUMNS[reading].names.map(({ field }) => field)),
      instead: { remapped: { rc: 2, out: 'no such option\n' } },
    });
    const answer = await eye().gpus();
    expect(answer.health).toMatchObject({ kind: 'blind', why: 'exit' });
    expect(indices(answer.gpus)).toEqual([0, 1, 2, 3]);
  });
});

describe('a broken card', () => {
  const lost = { words: 'GPU is lost.  Reboot the system to recover this GPU', rc: 15 };
  const breakCard = (at: number, broken: typeof lost | 'silent'): void => {
    smiProgram.set({ cards: cards(4).map((card, place) => (place === at ? { ...card, broken } : card)) });
  };

  test('leaves the others to be seen, and is named with the driver’s own words', async () => {
    breakCard(2, lost);
    const { gpus, health } = await eye().gpus();
    expect(indices(gpus)).toEqual([0, 1, 3]);
    expect(seen(gpus).broken).toEqual([{ index: 2, pciBusId: busOf(2), words: lost.words, denied: false }]);
    expect(seen(gpus).driverCount).toBe(4);
    expect(health.kind).toBe('seen');
    expect(smiProgram.runs().at(-1)).toMatch(/^-i 0,1,3 --query-gpu=/);
  });

  test('is known to the next look, which asks about the others and -L side by side', async () => {
    breakCard(2, lost);
    const smi = eye();
    await smi.gpus();
    const before = smiProgram.runs().length;
    const { gpus } = await smi.gpus();
    expect(indices(gpus)).toEqual([0, 1, 3]);
    expect(seen(gpus).broken).toEqual([{ index: 2, pciBusId: busOf(2), words: lost.words, denied: false }]);
    expect(smiProgram.runs().slice(before).toSorted()).toEqual(['-L', expect.stringMatching(/^-i 0,1,3 --query-gpu=/)]);
  });

  test('that recovers is seen at once, and so is another that breaks', async () => {
    breakCard(2, lost);
    const smi = eye();
    await smi.gpus();
    breakCard(1, lost);
    expect(indices((await smi.gpus()).gpus)).toEqual([0, 2, 3]);
    smiProgram.set({ cards: cards(4) });
    expect(indices((await smi.gpus()).gpus)).toEqual([0, 1, 2, 3]);
  });

  test('each of them: every card is named with the driver’s own words, and nothing is left to ask', async () => {
    smiProgram.set({ cards: cards(2).map((card) => ({ ...card, broken: lost })) });
    const smi = eye();
    const { gpus, health } = await smi.gpus();
    expect(seen(gpus)).toMatchObject({
      rows: [],
      broken: [
        { index: 0, pciBusId: busOf(0), words: lost.words },
        { index: 1, pciBusId: busOf(1), words: lost.words },
      ],
    });
    expect(health).toMatchObject({ kind: 'blind', why: 'exit' });
    expect(await smi.processes()).toMatchObject({ kind: 'blind', why: 'exit' });
  });

  test('leaves the processes on the others to be seen', async () => {
    breakCard(2, lost);
    const smi = eye();
    const [{ gpus }, processes] = await Promise.all([smi.gpus(), smi.processes()]);
    expect(indices(gpus)).toEqual([0, 1, 3]);
    expect(seen(processes)).toEqual({ processes: [], unreadable: 0, unlisted: [], remarks: [] });
    expect(smiProgram.runs('list').length).toBeLessThanOrEqual(2);
  });

  test('on a driver with a query of its own for remapped rows leaves those of the others', async () => {
    smiProgram.set({ refused: OLD });
    breakCard(2, lost);
    const { gpus, health } = await eye().gpus();
    expect(health.kind).toBe('seen');
    const yes = { readings: { rowRemapFailure: { kind: 'value', value: 'Yes' } } };
    expect(seen(gpus).rows).toMatchObject([yes, yes, yes]);
    expect(smiProgram.runs('remapped')).toEqual([expect.stringMatching(/^-i 0,1,3 /)]);
  });

  test('that is left out in silence is named too', async () => {
    breakCard(1, 'silent');
    const { gpus } = await eye().gpus();
    expect(indices(gpus)).toEqual([0, 2, 3]);
    expect(seen(gpus).broken).toEqual([
      { index: 1, pciBusId: busOf(1), words: 'Insufficient Permissions', denied: true },
    ]);
    expect(smiProgram.runs('list')).toHaveLength(1);
  });

  test('whose uuid is an error word has the place that is left open', async () => {
    const words = '[GPU is lost]';
    const columns = { index: words, uuid: words, 'pci.bus_id': words, name: words, 'memory.used': words };
    smiProgram.set({ cards: cards(4).map((card, place) => (place === 1 ? { ...card, columns } : card)) });
    const { gpus } = await eye().gpus();
    expect(seen(gpus).rows[1]).toMatchObject({
      index: 1,
      uuid: null,
      readings: { memoryUsedMib: { kind: 'error', words } },
    });
    expect(smiProgram.runs('list')).toHaveLength(0);
  });

  test('that mends is seen again at once', async () => {
    breakCard(2, lost);
    const smi = eye();
    await smi.gpus();
    smiProgram.set({ cards: cards(4) });
    const { gpus } = await smi.gpus();
    expect(indices(gpus)).toEqual([0, 1, 2, 3]);
    expect(seen(gpus).broken).toEqual([]);
  });
});

describe('a machine that cannot be seen', () => {
  const mismatch = 'Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.144\n';
  test.each([
    [
      'driver and library differ',
      { rc: 18, out: mismatch },
      'exit',
      'Failed to initialize NVML: Driver/library version mismatch (exit code 18',
    ],
    [
      'the devices were taken away',
      { rc: 255, out: 'Failed to initialize NVML: Unknown Error\n' },
      'exit',
      'Unknown Error (exit code 255',
    ],
    [
      'no driver is loaded',
      { rc: 9, out: "NVIDIA-SMI has failed because it couldn't communicate\n\n" },
      'exit',
      'NVIDIA-SMI has failed',
    ],
    [
      'the library is missing',
      { rc: 12, out: "NVIDIA-SMI couldn't find libnvidia-ml.so\n" },
      'exit',
      'libnvidia-ml.so',
    ],
    ['there are no devices', { rc: 6, out: 'No devices were found\n' }, 'exit', 'No devices were found'],
    [
      'there are no devices, with exit code 0',
      { rc: 0, out: 'No devices were found\n' },
      'parse',
      'got "No devices were found"',
    ],
    ['it says nothing, with exit code 0', { rc: 0, out: '' }, 'parse', 'got nothing'],
    ['it fails without a word', { rc: 3, out: '' }, 'exit', 'no word (exit code 3'],
    [
      'it fails after good rows',
      { rc: 255, out: `0, ${uuidOf(0)}, x\nUnknown Error\n` },
      'exit',
      'Unknown Error (exit code 255',
    ],
  ])('because %s is blind, never empty', async (_says, answer, why, detail) => {
    smiProgram.set({ instead: { gpus: answer, list: { rc: answer.rc, out: answer.out } } });
    const { gpus, health } = await eye().gpus();
    expect(gpus).toMatchObject({ kind: 'blind', why, detail: expect.stringContaining(detail) });
    expect(health).toEqual(gpus);
  });

  test.each([9, 12, 18])('is not asked a second time after exit code %i, which would end the same way', async (rc) => {
    smiProgram.set({ instead: { gpus: { rc, out: 'no\n' }, apps: { rc, out: 'no\n' } } });
    const smi = eye();
    await Promise.all([smi.gpus(), smi.processes()]);
    expect(smiProgram.runs()).toHaveLength(2);
  });

  test('because there is no such program says which', async () => {
    const { gpus } = await eye({ program: '/nowhere/nvidia-smi' }).gpus();
    expect(gpus).toMatchObject({
      kind: 'blind',
      why: 'spawn',
      detail: expect.stringMatching(/\/nowhere\/nvidia-smi.*TUNEPLANE_NVIDIA_SMI/),
    });
  });

  test('is seen again without a restart', async () => {
    const smi = eye();
    smiProgram.set({ instead: { gpus: { rc: 9, out: 'no\n' } } });
    await smi.gpus();
    smiProgram.set({ instead: {} });
    expect(indices((await smi.gpus()).gpus)).toEqual([0, 1, 2, 3]);
  });
});

describe('a run that does not end', () => {
  test('gives no row, though it printed some, and takes the health with it', async () => {
    smiProgram.set({ hangs: ['gpus'] });
    const { gpus, health } = await eye({ timeoutMs: 2000 }).gpus();
    expect(gpus).toMatchObject({
      kind: 'blind',
      why: 'timeout',
      detail: expect.stringMatching(/process \d+ was killed/),
    });
    expect(health).toEqual(gpus);
    expect(smiProgram.runs()).toHaveLength(1);
  });

  test('is followed by a good one as soon as it is gone', async () => {
    smiProgram.set({ hangs: ['gpus'] });
    const smi = eye({ timeoutMs: 4000 });
    await smi.gpus();
    smiProgram.set({ hangs: [] });
    await until('cards again', async () => (await smi.gpus()).gpus.kind === 'seen');
  });

  test('is not joined by a second while it lives on: the probe says so at once', async () => {
    const stuck = scripts.program(`echo started >> "$LOG"; setsid sh -c 'sleep 2' & exec sleep 60`);
    const smi = eye({ program: stuck, timeoutMs: 300 });
    const first = await smi.gpus();
    expect(first.gpus).toMatchObject({ kind: 'blind', why: 'timeout' });
    for (let look = 0; look < 5; look += 1) {
      const again = await smi.gpus();
      expect(again.gpus).toMatchObject({
        kind: 'blind',
        why: 'overlap',
        detail: expect.stringMatching(/process \d+ has been running since \d{4}-/),
      });
      expect(again.gpus.kind === 'blind' && again.gpus.tookMs).toBeLessThan(250);
    }
    expect(scripts.notes()).toEqual(['started']);
    await until('a second start', async () => (await smi.gpus()).gpus.kind === 'blind' && scripts.notes().length === 2);
  });

  test('of one kind leaves the other kinds alone', async () => {
    smiProgram.set({ hangs: ['apps'] });
    const smi = eye({ timeoutMs: 4000 });
    const [{ gpus }, processes] = await Promise.all([smi.gpus(), smi.processes()]);
    expect(processes).toMatchObject({ kind: 'blind', why: 'timeout' });
    expect(indices(gpus)).toEqual([0, 1, 2, 3]);
  });

  test('after a broken card keeps all within one time limit', async () => {
    smiProgram.set({
      hangs: ['list'],
      instead: { gpus: { rc: 15, out: 'Unable to determine the device handle: GPU is lost\n' } },
    });
    const startedAt = performance.now();
    const { gpus } = await eye({ timeoutMs: 4000 }).gpus();
    expect(performance.now() - startedAt).toBeLessThan(7500);
    expect(gpus).toMatchObject({ kind: 'blind', why: 'exit', detail: expect.stringContaining('GPU is lost') });
  });

  test('of remapped rows blinds health, and nothing else', async () => {
    smiProgram.set({ hangs: ['remapped'], refused: OLD });
    // The runs before that one share the limit, and start slowly on a busy machine.
    const { gpus, health } = await eye({ timeoutMs: 5000 }).gpus();
    expect(indices(gpus)).toEqual([0, 1, 2, 3]);
    expect(seen(gpus).rows[0]?.readings).toMatchObject({
      rowRemapFailure: { kind: 'absent' },
      fabricState: { kind: 'cannot_say' },
    });
    expect(health).toMatchObject({ kind: 'blind', why: 'timeout' });
  });
});

describe('remapped rows', () => {
  test('have no query of their own where the driver knows the columns', async () => {
    await eye().gpus();
    expect(smiProgram.runs('remapped')).toEqual([]);
  });

  test('are asked at most once a minute, and what they said holds meanwhile', async () => {
    smiProgram.set({ refused: OLD });
    const smi = eye();
    await smi.gpus();
    const { gpus } = await smi.gpus();
    expect(seen(gpus).rows[0]?.readings).toMatchObject({
      rowRemapFailure: { kind: 'value', value: 'Yes' },
      rowRemapPending: { kind: 'value', value: 'No' },
    });
    expect(smiProgram.runs('remapped')).toHaveLength(1);
    clock.forward(60_001);
    await smi.gpus();
    expect(smiProgram.runs('remapped')).toHaveLength(2);
  });

  test('are asked again at once after a blind look', async () => {
    smiProgram.set({ refused: OLD });
    const smi = eye();
    await smi.gpus();
    smiProgram.set({ instead: { gpus: { rc: 9, out: 'no\n' } } });
    await smi.gpus();
    smiProgram.set({ instead: {} });
    await smi.gpus();
    expect(smiProgram.runs('remapped')).toHaveLength(2);
  });

  test('that could not be asked again are what they were, are asked at each look, and the probe says so', async () => {
    smiProgram.set({ refused: OLD });
    const smi = eye();
    await smi.gpus();
    clock.forward(60_001);
    smiProgram.set({ instead: { remapped: { rc: 255, out: 'Unknown Error\n' } } });
    for (const runs of [2, 3]) {
      const { gpus, health } = await smi.gpus();
      expect(seen(gpus).rows[0]?.readings.rowRemapFailure).toEqual({ kind: 'value', value: 'Yes' });
      expect(health).toMatchObject({ kind: 'blind', why: 'exit' });
      expect(smiProgram.runs('remapped')).toHaveLength(runs);
    }
    smiProgram.set({ instead: {} });
    expect((await smi.gpus()).health.kind).toBe('seen');
  });

  test('that hang delay no look, and what was known stands', async () => {
    smiProgram.set({ refused: OLD });
    const smi = eye({ timeoutMs: 30_000 });
    await smi.gpus();
    clock.forward(60_001);
    smiProgram.set({ hangs: ['remapped'] });
    const { gpus } = await smi.gpus();
    expect(seen(gpus).rows[0]?.readings.rowRemapFailure).toEqual({ kind: 'value', value: 'Yes' });
    // It is still under way, so nothing has failed yet.
    expect((await smi.gpus()).health.kind).toBe('seen');
    expect(smiProgram.runs('remapped')).toHaveLength(2);
  });

  test('of a card that comes back are asked at once', async () => {
    const lost = { words: 'GPU is lost.  Reboot the system to recover this GPU', rc: 15 };
    smiProgram.set({ refused: OLD, cards: cards(4).map((card, at) => (at === 2 ? { ...card, broken: lost } : card)) });
    const smi = eye();
    await smi.gpus();
    smiProgram.set({ cards: cards(4) });
    const { gpus } = await smi.gpus();
    expect(seen(gpus).rows[2]?.readings.rowRemapFailure).toEqual({ kind: 'value', value: 'Yes' });
    expect(smiProgram.runs('remapped')).toHaveLength(2);
    await smi.gpus();
    expect(smiProgram.runs('remapped')).toHaveLength(2);
  });

  test('that the driver does not know are absent, and health is seen', async () => {
    smiProgram.set({
      refused: OLD,
      instead: { remapped: { rc: 2, out: 'Invalid combination of input arguments.\n' } },
    });
    const { gpus, health } = await eye().gpus();
    expect(health.kind).toBe('seen');
    expect(seen(gpus).rows[0]?.readings.rowRemapFailure).toEqual({ kind: 'absent' });
  });

  test('that cannot be had for another reason blind health', async () => {
    smiProgram.set({ refused: OLD, instead: { remapped: { rc: 255, out: 'Unknown Error\n' } } });
    expect((await eye().gpus()).health).toMatchObject({
      kind: 'blind',
      why: 'exit',
      detail: expect.stringContaining('remapped'),
    });
  });
});

describe('the links', () => {
  test('are there with the first look, by uuid, and asked once', async () => {
    const smi = eye();
    const { gpus } = await smi.gpus();
    const links = await smi.links(gpus);
    expect(links?.get(uuidOf(0) as never)?.get(uuidOf(3) as never)).toBe('NV');
    await smi.links(gpus);
    expect(smiProgram.runs('topo')).toHaveLength(1);
  });

  test('are asked again under another driver, and after a blind look', async () => {
    const smi = eye();
    await smi.links((await smi.gpus()).gpus);
    smiProgram.set({ driver: '610.1' });
    await smi.links((await smi.gpus()).gpus);
    await until('asked under the new driver', () => smiProgram.runs('topo').length === 2);
    await smi.links({ kind: 'blind', why: 'timeout', detail: '', tookMs: 1 });
    await smi.links((await smi.gpus()).gpus);
    await until('asked after the blind look', () => smiProgram.runs('topo').length === 3);
  });

  test('that cannot be had are null, fail nothing and are asked again a minute later', async () => {
    smiProgram.set({ instead: { topo: { rc: 255, out: 'Unknown Error\n' } } });
    const smi = eye();
    const { gpus } = await smi.gpus();
    expect(await smi.links(gpus)).toBeNull();
    expect(await smi.links(gpus)).toBeNull();
    expect(smiProgram.runs('topo')).toHaveLength(1);
    smiProgram.set({ instead: {} });
    clock.forward(60_001);
    await smi.links(gpus);
    await until('links', async () => (await smi.links(gpus)) !== null);
    expect(smiProgram.runs('topo')).toHaveLength(2);
  });

  test('that do not come hold up the first look a little, and no other', async () => {
    smiProgram.set({ hangs: ['topo'] });
    const smi = eye();
    const { gpus } = await smi.gpus();
    const startedAt = performance.now();
    expect(await smi.links(gpus)).toBeNull();
    const first = performance.now() - startedAt;
    expect(await smi.links(gpus)).toBeNull();
    expect(first).toBeLessThan(4000);
    expect(performance.now() - startedAt - first).toBeLessThan(1500);
  });
});

describe('the links of another driver', () => {
  test('hold up no look, and the ones known so far stay meanwhile', async () => {
    const smi = eye();
    await smi.links((await smi.gpus()).gpus);
    smiProgram.set({ hangs: ['topo'], driver: '610.1' });
    const { gpus } = await smi.gpus();
    const startedAt = performance.now();
    const links = await smi.links(gpus);
    expect(performance.now() - startedAt).toBeLessThan(1500);
    expect(links?.size).toBe(4);
    await until('topo was asked', () => smiProgram.runs('topo').length === 2);
  });
});

function withColumn(columns: Record<string, string>): ReturnType<typeof cards> {
  return cards(4).map((card) => ({ ...card, columns }));
}
