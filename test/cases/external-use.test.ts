import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { watchMachine } from '../matrix/watched-machine.js';
import { cardAt, machineWith, pageOf, seriesOfCard, statesOf, uuidOf, wouldGet } from './cards-of.js';

/** Cards that somebody used, or seemed to. */

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

// E01, https://github.com/russellb/canhazgpu/issues/5
describe('idle cards stood above a fixed memory limit, and admins could not reserve their own', () => {
  const cards = [593, 1585, 153, 512, 513].map((memory_used_mib) => ({ memory_used_mib }));

  test('at 512 MiB and above a card is used from outside, and the words tell memory from a process', async () => {
    const look = await watchMachine(machineWith(cards)).look();
    expect(statesOf(look)).toBe('external external free external external');
    expect(cardAt(look, 0).external).toEqual({ processes: [], memoryMib: 593, containers: [] });
    expect(look.occupancy.explain).toContain('card 1: 1585 MiB in use and no process listed');
    expect(look.occupancy.explain).toContain('at or above the limit of 512 MiB (TUNEPLANE_MEMORY_BUSY_MIB)');
    expect(seriesOfCard(look, 'tuneplane_gpu_card_memory_used_bytes', 1)).toEqual([1585 * 1024 * 1024]);
    const process = { pid: 7, name: 'python', memory_mib: 590 };
    const foreign = await watchMachine(machineWith([{ memory_used_mib: 593, processes: [process] }])).look();
    expect(foreign.occupancy.explain).toBe('1 card, 0 free; 1 used from outside (card 0: python pid 7, 590 MiB).');
  });

  test('the limit is a setting of the machine, so that a box with a display is not external for ever', async () => {
    const look = await watchMachine(machineWith(cards), { rules: { memoryBusyMib: 2048 } }).look();
    expect(statesOf(look)).toBe('free free free free free');
    expect(wouldGet(look, 5)).toEqual([0, 1, 2, 3, 4]);
    expect(README).toMatch(/TUNEPLANE_MEMORY_BUSY_MIB.*512.*, or more, is in use/);
  });
});

// E04, https://github.com/nebuly-ai/nos/issues/39
test('the MPS server keeps 27 MiB on each card all the time, and its clients are behind it', async () => {
  const look = await watchMachine(
    machineWith([
      { memory_used_mib: 27, processes: [{ pid: 2101, name: 'nvidia-cuda-mps-server', memory_mib: 27 }] },
      { memory_used_mib: 74, processes: [{ pid: 2202, name: '/opt/app/serve', memory_mib: 60 }] },
    ]),
  ).look();
  expect(statesOf(look)).toBe('external external');
  expect(look.occupancy.explain).toContain('card 0: nvidia-cuda-mps-server pid 2101, 27 MiB');
  expect(look.occupancy.explain).toContain('card 1: /opt/app/serve pid 2202, 60 MiB');
  expect(wouldGet(look, 1)).toBe('external');
});

// E05, https://github.com/NVIDIA/nvidia-docker/issues/1460
describe('inside a container without the host pids the process list is empty while jobs run', () => {
  const busy = { uuid: uuidOf(0x120), memory_used_mib: 10_916, utilization_percent: 59 };

  test.each([
    ['the rows are lost', ''],
    ['a sentence stands where rows were', 'No running processes found\n'],
  ])('%s: memory still tells, and it is said that the list may be blind', async (_says, list) => {
    const watched = watchMachine(machineWith([busy, { memory_used_mib: 149 }]));
    watched.retell = (stdout, args) => (args.some((arg) => arg.startsWith('--query-compute')) ? list : stdout);
    const look = await watched.look();
    expect(statesOf(look)).toBe('external free');
    expect(cardAt(look, 0)).toMatchObject({ processes: 0, warned: { process_list_blind: true } });
    expect(cardAt(look, 0).warnings[0]?.detail).toContain('it may be blind here');
    const warning = (index: number) =>
      pageOf(look).get(
        `tuneplane_gpu_card_warning{index="${index}",reason="process_list_blind",uuid="${cardAt(look, index).uuid}"}`,
      );
    expect([warning(0), warning(1)]).toEqual([1, 0]);
  });

  test('a process whose name cannot be seen here is a process', async () => {
    const processes = [{ pid: 28_290, name: '[Not Found]', memory_mib: 10_900 }];
    const look = await watchMachine(machineWith([{ ...busy, processes }])).look();
    expect(statesOf(look)).toBe('external');
    expect(cardAt(look, 0)).toMatchObject({ processes: 1, warned: { process_list_blind: false } });
  });

  test('whoever deploys it reads that the host pids are needed', () => {
    expect(README).toContain(
      'it needs `--pid=host`, or the process list of the driver stays empty and small foreign jobs are not detected',
    );
  });
});
