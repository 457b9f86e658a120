import { describe, expect, test } from 'vitest';
import { parseGpuRows } from '../../src/probe/nvidia-smi/parse-gpu-rows.js';
import { watchMachine } from '../matrix/watched-machine.js';
import { by } from '../support/metrics-page.js';
import { cardAt, machineWith, pageOf, seriesOfCard, statesOf, uuidOf, wouldGet } from './cards-of.js';
import { listedContainers } from './listed-containers.js';

/** What `nvidia-smi` printed to other people, and what was made of it. */

// S01, https://github.com/mostlygeek/llama-swap/issues/782
describe('GB10 prints [N/A] for its memory while a process uses 19 GB; consumers read 0 MiB, or said "no GPU"', () => {
  const spark = { name: 'NVIDIA GB10', columns: { 'memory.used': '[N/A]', 'memory.total': '[N/A]' } };
  const python = { pid: 114_687, name: '/usr/local/bin/python', memory_mib: 19_135 };

  test('with the process it is used from outside, and no memory is told', async () => {
    const look = await watchMachine(machineWith([{ ...spark, processes: [python] }])).look();
    expect(statesOf(look)).toBe('external');
    expect(seriesOfCard(look, 'tuneplane_gpu_card_memory_used_bytes', 0)).toEqual([]);
    expect(seriesOfCard(look, 'tuneplane_gpu_card_memory_size_bytes', 0)).toEqual([]);
    expect(look.occupancy.explain).toContain('/usr/local/bin/python pid 114687, 19135 MiB');
  });

  test('without it nobody can say that it is free, and whoever asks is told why', async () => {
    const look = await watchMachine(machineWith([spark])).look();
    expect(statesOf(look)).toBe('unknown');
    expect(cardAt(look, 0)).toMatchObject({ name: 'NVIDIA GB10', memoryUsedBytes: null, unknownBecause: 'memory' });
    expect(seriesOfCard(look, 'tuneplane_gpu_card_memory_used_bytes', 0)).toEqual([]);
    expect(wouldGet(look, 1)).toBe('unknown');
    expect(look.occupancy.explain).toContain('the driver does not say how much memory is in use');
    expect(look.occupancy.externalProbeOk).toBe(false);
  });
});

// S03, https://github.com/enkore/i3pystatus/pull/776
describe('the "no value" spelling changes with driver and column; each new one broke a parser over a column nobody needed', () => {
  const optional = ['[Not Supported]', '[N/A]', '[Unknown Error]', 'Unknown', '-', '[Words of next year]', ''];
  const inMemory = [
    '[Insufficient Permissions]',
    '[Unknown Error]',
    '[N/A]',
    'Unknown',
    '-',
    '',
    '[Words of next year]',
  ];

  test('an odd word in a column that feeds a gauge costs that gauge, and the card is free', async () => {
    const cards = optional.map((word) => ({
      columns: { 'memory.total': word, persistence_mode: word, 'fan.speed': word },
    }));
    const look = await watchMachine(machineWith(cards)).look();
    expect(statesOf(look)).toBe(Array(cards.length).fill('free').join(' '));
    for (const index of cards.keys()) {
      expect(seriesOfCard(look, 'tuneplane_gpu_card_memory_size_bytes', index)).toEqual([]);
      expect(seriesOfCard(look, 'tuneplane_gpu_card_persistence_mode', index)).toEqual([]);
      expect(seriesOfCard(look, 'tuneplane_gpu_card_memory_used_bytes', index)).toEqual([0]);
    }
  });

  test('an odd word in the memory in use never makes a card free, and the other cards are', async () => {
    const cards = [...inMemory.map((word) => ({ columns: { 'memory.used': word } })), {}];
    const look = await watchMachine(machineWith(cards)).look();
    expect(statesOf(look)).toBe('unknown unhealthy unknown unknown unknown unknown unhealthy free');
    for (const index of inMemory.keys()) {
      expect(seriesOfCard(look, 'tuneplane_gpu_card_memory_used_bytes', index)).toEqual([]);
    }
    expect(wouldGet(look, 1)).toEqual([7]);
  });
});

// S05, https://github.com/mozilla/translations/issues/1167
describe('total failures still print to standard output: after an unattended upgrade, a daemon-reload, or with no word at all', () => {
  test.each([
    [
      { rc: 18, stdout: 'Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.144\n' },
      'exit',
      'Driver/library version mismatch',
    ],
    [{ rc: 0, stdout: 'No devices were found\n' }, 'parse', 'No devices were found'],
    [
      { rc: 255, stdout: 'Failed to initialize NVML: Unknown Error\n' },
      'exit',
      'Failed to initialize NVML: Unknown Error',
    ],
    [{ rc: 0, stdout: '' }, 'parse', 'got nothing'],
  ])('%j is blindness and not an empty machine', async (said, why, words) => {
    const watched = watchMachine(machineWith([{}, {}]));
    const good = await watched.look();
    watched.retell = () => said;
    watched.forward(300_000);
    const look = await watched.look();
    expect(look.snapshot.gpus).toMatchObject({ kind: 'blind', why, detail: expect.stringContaining(words) });
    // The cards known before are known still, and none is free.
    expect(statesOf(look)).toBe('unknown unknown');
    expect(wouldGet(look, 1)).toBe('probe_blind');
    const page = pageOf(look);
    expect(page.get('tuneplane_gpu_probe_success{probe="gpus"}')).toBe(0);
    const lastSuccess = 'tuneplane_gpu_probe_last_success_timestamp_seconds{probe="gpus"}';
    expect(page.get(lastSuccess)).toBe(pageOf(good).get(lastSuccess));
    expect(page.get('tuneplane_gpu_external_probe_ok')).toBe(0);
    expect(page.get(`tuneplane_gpu_probe_failures_total{probe="gpus",reason="${why}"}`)).toBe(1);
    expect([...page.keys()].filter((series) => series.includes('card_memory'))).toEqual([]);
  });

  test('who holds what is told by Docker alone', async () => {
    const watched = watchMachine(machineWith([{ uuid: uuidOf(1) }, { uuid: uuidOf(2) }]));
    await watched.look();
    watched.retell = () => ({ rc: 255, stdout: 'Failed to initialize NVML: Unknown Error\n' });
    const labels = { 'tuneplane.run_id': 'train', 'tuneplane.gpu-uuids': uuidOf(2) };
    watched.books = (await listedContainers([{ id: 'aaa', labels }])).books;
    const look = await watched.look();
    expect(statesOf(look)).toBe('unknown job_held');
    expect(pageOf(look).get(`tuneplane_gpu_card_holder_info{index="1",run_id="train",uuid="${uuidOf(2)}"}`)).toBe(1);
  });
});

// S07, https://github.com/mostlygeek/llama-swap/pull/773
describe('a header, units, CRLF, a blank line, no blank after the comma, padding: one crashed a monitor, another emptied it', () => {
  const fields = ['index', 'uuid', 'name', 'memory.used', 'memory.total', 'utilization.gpu', 'temperature.gpu'];
  const uuid = uuidOf(0x50);
  test.each([
    [`0, ${uuid}, NVIDIA L40S, 0, 46068, 0, 33\n`],
    [`0,${uuid},NVIDIA L40S,0,46068,0,33`],
    [`\r\n0, ${uuid}, NVIDIA L40S, 0, 46068, 0, 33\r\n\r\n`],
    [
      `index, uuid, name, memory.used [MiB], memory.total [MiB], utilization.gpu [%], temperature.gpu\n0, ${uuid}, NVIDIA L40S, 0 MiB, 46068 MiB, 0 %, 33\n`,
    ],
    [`  0 ,  ${uuid} ,  NVIDIA L40S ,  0 ,  46068 ,  0 ,  33  \n`],
  ])('%j is one and the same card', (text) => {
    const { rows } = parseGpuRows(text, fields);
    expect(rows).toMatchObject([
      {
        index: 0,
        uuid,
        name: 'NVIDIA L40S',
        readings: { memoryUsedMib: { kind: 'value', value: 0 }, memoryTotalMib: { kind: 'value', value: 46068 } },
        short: false,
      },
    ]);
  });

  test.each([
    ['CRLF and blank lines', (text: string) => `\r\n${text.replaceAll('\n', '\r\n')}\r\n`],
    ['no blank after the comma', (text: string) => text.replaceAll(', ', ',')],
    ['padding', (text: string) => text.replaceAll(', ', ' ,  ').replaceAll('\n', '  \n')],
  ])('whole looks do not change by it: %s', async (_says, retell) => {
    const watched = watchMachine(machineWith([{ name: 'NVIDIA L40S' }, {}]));
    const plain = await watched.look();
    watched.retell = retell;
    const drifted = await watched.look();
    expect(drifted.occupancy).toEqual(plain.occupancy);
    expect(drifted.page).toBe(plain.page);
    expect(drifted.page).not.toContain('\r');
  });
});

// S09, https://github.com/thad0ctor/llama-server-launcher/pull/19
test('a truncated row was skipped, the remaining cards renumbered, and the launcher aimed at the wrong GPU', async () => {
  const watched = watchMachine(machineWith([0x70, 0x71, 0x72].map((number) => ({ uuid: uuidOf(number) }))));
  watched.retell = (stdout, args) =>
    args.some((arg) => arg.startsWith('--query-gpu'))
      ? stdout.replace(/^(1, GPU-[^,]*, [^,]*,).*$/m, '$1 NVIDIA A100')
      : stdout;
  const look = await watched.look();
  expect(statesOf(look)).toBe('free unknown free');
  expect(look.occupancy.cards.map(({ index, uuid }) => [index, uuid])).toEqual([
    [0, uuidOf(0x70)],
    [1, uuidOf(0x71)],
    [2, uuidOf(0x72)],
  ]);
  expect(cardAt(look, 1).unknownBecause).toBe('short_row');
  expect(by(pageOf(look), 'tuneplane_gpu_cards', 'state')).toMatchObject({ free: 2, unknown: 1 });
  expect(look.occupancy.explain).toContain('card 1: the driver printed its row incompletely');
  expect(wouldGet(look, 2)).toEqual([0, 2]);
});
