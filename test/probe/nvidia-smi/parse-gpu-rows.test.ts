import { describe, expect, test } from 'vitest';
import { parseGpuRows } from '../../../src/probe/nvidia-smi/parse-gpu-rows.js';

const FIELDS = ['index', 'uuid', 'memory.used', 'memory.total', 'fan.speed', 'name'];
const UUID = 'GPU-00000050-0000-4000-8000-000000000050';

function row(text: string, fields = FIELDS): ReturnType<typeof parseGpuRows>['rows'][number] {
  const { rows } = parseGpuRows(text, fields);
  expect(rows).toHaveLength(1);
  return rows[0]!;
}

describe('the same card is read, however it is printed', () => {
  test.each([
    ['as the program prints it', `0, ${UUID}, 0, 46068, 33, NVIDIA L40S\n`],
    ['without blanks and without a last newline', `0,${UUID},0,46068,33,NVIDIA L40S`],
    ['with CRLF and blank lines', `\r\n0, ${UUID}, 0, 46068, 33, NVIDIA L40S\r\n\r\n`],
    [
      'with a header and units',
      `index, uuid, memory.used [MiB], memory.total [MiB], fan.speed [%], name\n0, ${UUID}, 0 MiB, 46068 MiB, 33 %, NVIDIA L40S\n`,
    ],
    ['with padding', `  0 ,  ${UUID} ,  0 ,  46068 ,  33  ,  NVIDIA L40S \n`],
    ['with escape codes around it', `\u001b[4m0, ${UUID}, 0, 46068, 33, NVIDIA L40S\u001b[0m\n`],
    ['with words before and after that are no row', `WARNING: something\n0, ${UUID}, 0, 46068, 33, NVIDIA L40S\nbye\n`],
  ])('%s', (_says, text) => {
    expect(row(text)).toMatchObject({
      index: 0,
      uuid: UUID,
      name: 'NVIDIA L40S',
      readings: { memoryUsedMib: { kind: 'value', value: 0 }, memoryTotalMib: { kind: 'value', value: 46068 } },
      short: false,
    });
  });
});

test('a line that is no row is told apart, a header is not', () => {
  const text = `index, uuid, memory.used [MiB], memory.total [MiB], fan.speed [%], name
0, ${UUID}, 0, 46068, 33, NVIDIA L40S
WARNING: infoROM is corrupted at gpu 0000:02:00.0
`;
  expect(parseGpuRows(text, FIELDS).strays).toEqual(['WARNING: infoROM is corrupted at gpu 0000:02:00.0']);
});

test.each(['1.250', '1.250 MiB', '-1', '1e3'])('%s is no number of MiB', (words) => {
  expect(row(`0, ${UUID}, ${words}, 46068, 33, NVIDIA L40S`).readings.memoryUsedMib.kind).not.toBe('value');
});

describe('a name', () => {
  test('may hold commas, being last', () => {
    expect(row(`0, ${UUID}, 0, 1, 2, NVIDIA, the "big" one, 80GB`).name).toBe('NVIDIA, the "big" one, 80GB');
  });
  test('has no control characters and a sane length', () => {
    const { name } = row(`0, ${UUID}, 0, 1, 2, a\u0007b${'c'.repeat(5000)}`);
    expect(name).toMatch(/^a bc+…$/);
    expect(name).toHaveLength(300);
  });
});

describe('words where a number was due are told apart', () => {
  test.each([
    ['[N/A]', { kind: 'cannot_say', words: '[N/A]' }],
    ['N/A', { kind: 'cannot_say', words: 'N/A' }],
    ['[Not Supported]', { kind: 'cannot_say', words: '[Not Supported]' }],
    [
      '[Requested functionality has been deprecated]',
      { kind: 'cannot_say', words: '[Requested functionality has been deprecated]' },
    ],
    ['[GPU is lost]', { kind: 'error', words: '[GPU is lost]' }],
    ['[Unknown Error]', { kind: 'error', words: '[Unknown Error]' }],
    ['[Some words of next year]', { kind: 'error', words: '[Some words of next year]' }],
    ['ERR!', { kind: 'error', words: 'ERR!' }],
    ['[Insufficient Permissions]', { kind: 'denied', words: '[Insufficient Permissions]' }],
    ['Unknown', { kind: 'unreadable', words: 'Unknown' }],
    ['-', { kind: 'unreadable', words: '-' }],
    ['', { kind: 'unreadable', words: '' }],
    ['-1', { kind: 'unreadable', words: '-1' }],
    ['1e9', { kind: 'unreadable', words: '1e9' }],
    ['0x10', { kind: 'unreadable', words: '0x10' }],
    ['18446744073709551615', { kind: 'unreadable', words: '18446744073709551615' }],
    ['5 GiB', { kind: 'unreadable', words: '5 GiB' }],
    ['512', { kind: 'value', value: 512 }],
    ['512 MiB', { kind: 'value', value: 512 }],
  ])('%s', (cell, reading) => {
    const said = row(`0, ${UUID}, ${cell}, 81920, 30, NVIDIA A100`);
    expect(said.readings.memoryUsedMib).toEqual(reading);
    expect(said.readings.memoryTotalMib).toEqual({ kind: 'value', value: 81920 });
  });
  test('and cost nothing but their own column', () => {
    const said = row(`5, ${UUID}, 0, 81920, [Unknown Error], NVIDIA A100`);
    expect(said).toMatchObject({
      index: 5,
      uuid: UUID,
      name: 'NVIDIA A100',
      readings: { memoryUsedMib: { kind: 'value', value: 0 } },
    });
  });
});

describe('columns go by position', () => {
  test('those nobody asked for are absent', () => {
    const { readings, pciBusId } = row(`0, ${UUID}, 0, 1, 2, x`);
    const { migMode, persistenceMode, fabricState, hwSlowdown } = readings;
    const kinds = [migMode, persistenceMode, fabricState, hwSlowdown].map(({ kind }) => kind);
    expect(kinds).toEqual(['absent', 'absent', 'absent', 'absent']);
    expect(pciBusId).toBeNull();
  });
  test.each(['clocks_throttle_reasons.hw_slowdown', 'clocks_event_reasons.hw_slowdown'])(
    'the slowdown is read under the name %s',
    (field) => {
      const said = row(`0, ${UUID}, Active, x`, ['index', 'uuid', field, 'name']);
      expect(said.readings.hwSlowdown).toEqual({ kind: 'value', value: 'Active' });
    },
  );
  test('the count and the driver version come with any row', () => {
    const fields = ['index', 'uuid', 'driver_version', 'count', 'name'];
    const text = `[GPU is lost], [GPU is lost], 535.261.03, 8, [GPU is lost]\n1, ${UUID}, 535.261.03, 8, x\n`;
    expect(parseGpuRows(text, fields)).toMatchObject({ driverCount: 8, driverVersion: '535.261.03' });
  });
});

describe('a row that breaks off', () => {
  const other = (n: number): string =>
    `${n}, GPU-0000007${n}-0000-4000-8000-00000000007${n}, 0, 81920, 30, NVIDIA A100-SXM4-80GB`;
  test('is a card of which nothing more can be said, and moves no other', () => {
    const text = `${other(0)}\n1, GPU-00000071-0000-4000-8000-000000000071, NVIDIA A100\n${other(2)}\n`;
    const { rows } = parseGpuRows(text, FIELDS);
    expect(rows.map(({ index, short }) => [index, short])).toEqual([
      [0, false],
      [1, true],
      [2, false],
    ]);
    expect(rows[1]).toMatchObject({
      uuid: 'GPU-00000071-0000-4000-8000-000000000071',
      readings: { memoryUsedMib: { kind: 'absent' } },
    });
  });
  test('does not lend half of its last number to anyone', () => {
    expect(row(`1, ${UUID}, 70321, 81`)).toMatchObject({
      readings: { memoryUsedMib: { kind: 'value', value: 70321 }, memoryTotalMib: { kind: 'absent' } },
      short: true,
    });
  });
  test('in the middle of its uuid has none', () => {
    expect(row('1, GPU-00000071-0000')).toMatchObject({ index: 1, uuid: null, short: true });
  });
  test('right after its uuid keeps it', () => {
    expect(row(`1, ${UUID}`)).toMatchObject({ index: 1, uuid: UUID, short: true });
  });
});

test('a card that cannot even tell its uuid is a row without one', () => {
  const lost = row(Array(FIELDS.length).fill('[GPU is lost]').join(', '));
  expect(lost).toMatchObject({ index: null, uuid: null, name: null, short: false });
  expect(lost.readings.memoryUsedMib).toEqual({ kind: 'error', words: '[GPU is lost]' });
});

describe('a row with a comma where none was due', () => {
  const fields = ['index', 'uuid', 'count', 'memory.used', 'memory.total', 'persistence_mode', 'name'];
  const busy = (uuid: string, rest: string): string => `3, ${uuid}, ${rest}, Enabled, NVIDIA L40S`;
  test.each([
    [
      'before the memory in use: what stands there now is the count of cards',
      busy(UUID, '1, 8, 40000, 46068'),
      3,
      UUID,
    ],
    ['in the memory in use', busy(UUID, '8, 4, 0000, 46068'), 3, UUID],
    ['in the uuid', busy(`x, ${UUID}`, '8, 40000, 46068'), null, UUID],
    ['in the index', `3,1, ${UUID}, 8, 40000, 46068, Enabled, NVIDIA L40S`, null, UUID],
    ['and no uuid', busy('GPU-0,', '8, 40000, 46068'), null, null],
  ])('%s: it is a card of which nothing more is said', (_says, text, index, uuid) => {
    expect(row(text, fields)).toMatchObject({
      index,
      uuid,
      short: true,
      name: null,
      readings: { memoryUsedMib: { kind: 'absent' } },
    });
  });
  test('but in its name is whole', () => {
    expect(row(busy(UUID, '8, 40000, 46068').replace('NVIDIA', 'NVIDIA, Inc'), fields)).toMatchObject({
      name: 'NVIDIA, Inc L40S',
      readings: { memoryUsedMib: { kind: 'value', value: 40000 } },
      short: false,
    });
  });
});

test('a carriage return inside a cell makes no second card', () => {
  expect(row(`0, ${UUID}, 0, 46068, x\r[GPU is lost], NVIDIA\rL40S\r\n`).name).toBe('NVIDIA L40S');
});

test.each(['', 'x', 'y'.repeat(5000)])('a row without an index that has a whole uuid is that card: %j', (index) => {
  expect(row(`${index}, ${UUID}, 0, 46068, 33, NVIDIA L40S`)).toMatchObject({ index: null, uuid: UUID, short: false });
});

test.each(['x', '5', '', 'y'.repeat(5000), 'GPU-?'])('a text that is no uuid is nobody’s identity: %j', (uuid) => {
  expect(row(`0, ${uuid}, 0, 46068, 33, NVIDIA L40S`)).toMatchObject({ index: 0, uuid: null });
});

test('a text that is no version is not the driver’s', () => {
  const fields = ['index', 'uuid', 'driver_version', 'name'];
  const text = `0, ${UUID}, Unknown, x\n1, GPU-1, 590.48.01, x\n`;
  expect(parseGpuRows(text, fields).driverVersion).toBe('590.48.01');
});

test('a card printed twice is one card', () => {
  expect(parseGpuRows(`0, ${UUID}, 0, 1, 2, x\n0, ${UUID}, 0, 1, 2, x\n`, FIELDS).rows).toHaveLength(1);
});

test.each(['', '\n\n', 'No devices were found\n', 'NVIDIA-SMI has failed because of things, and so on\n'])(
  '%j holds no card',
  (text) => {
    expect(parseGpuRows(text, FIELDS)).toMatchObject({ rows: [], driverCount: null, driverVersion: null });
  },
);
