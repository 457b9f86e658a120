import { describe, expect, test } from 'vitest';
import { parseTopology } from '../../../src/probe/nvidia-smi/parse-topology.js';

const asObject = (text: string): unknown => {
  const matrix = parseTopology(text);
  return matrix && Object.fromEntries([...matrix].map(([index, row]) => [index, Object.fromEntries(row)]));
};

const LEGEND =
  '\nLegend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe\n  NV#  = Connection traversing a bonded set of # NVLinks\n';

describe('the links', () => {
  test('of a machine with network cards are those between its cards', () => {
    const text = [
      '\t\u001b[4mGPU0\tGPU1\tGPU2\tNIC0\tmlx5_1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\u001b[0m',
      'GPU0\t X \tNV12\tSYS\tPXB\tSYS\t0-31,64-95\t0\t\tN/A',
      'GPU1\tNV12\t X \tPHB\tPXB\tSYS\t0-31,64-95\t0\t\tN/A',
      'GPU2\tSYS\tPHB\t X \tSYS\tPIX\t32-63,96-127\t1\t\tN/A',
      'NIC0\tPXB\tPXB\tSYS\t X \tSYS\t\t\t\t',
      'mlx5_1\tSYS\tSYS\tPIX\tSYS\t X \t\t\t\t',
      LEGEND,
      'NIC Legend:\n\n  NIC0: mlx5_0\n',
    ].join('\n');
    expect(asObject(text)).toEqual({ 0: { 1: 'NV', 2: 'SYS' }, 1: { 0: 'NV', 2: 'PHB' }, 2: { 0: 'SYS', 1: 'PHB' } });
  });

  test('of one card are none, and that is known', () => {
    const text = `\t\u001b[4mGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\u001b[0m\nGPU0\t X \t0-19\t0\t\tN/A\n${LEGEND}`;
    expect(asObject(text)).toEqual({ 0: {} });
  });

  test.each([
    ['the other way round', 'PIX', 'NODE'],
    ['either way', 'NODE', 'PIX'],
  ])('that differ by direction count as the worse one, %s', (_says, there, back) => {
    expect(asObject(`\tGPU0\tGPU1\nGPU0\tX\t${there}\nGPU1\t${back}\tX\n`)).toEqual({
      0: { 1: 'NODE' },
      1: { 0: 'NODE' },
    });
  });

  test('of a card whose row is missing are known from the others', () => {
    expect(asObject('\tGPU0\tGPU1\tGPU2\nGPU0\tX\tNV4\tSYS\nGPU2\tSYS\tPXB\tX\n')).toEqual({
      0: { 1: 'NV', 2: 'SYS' },
      1: { 0: 'NV', 2: 'PXB' },
      2: { 0: 'SYS', 1: 'PXB' },
    });
  });

  test('go by the names in the header, not by counting', () => {
    expect(asObject('\tGPU1\tGPU4\nGPU1\tX\tPIX\nGPU4\tPIX\tX\n')).toEqual({ 1: { 4: 'PIX' }, 4: { 1: 'PIX' } });
  });

  test('are read with blanks for tabs, CRLF, and the old word for SYS', () => {
    expect(asObject('      GPU0   GPU1\r\nGPU0   X    SOC\r\nGPU1   SOC    X\r\n')).toEqual({
      0: { 1: 'SYS' },
      1: { 0: 'SYS' },
    });
  });

  test('of sixteen cards are all there', () => {
    const cards = Array.from({ length: 16 }, (_, index) => index);
    const header = `\t\u001b[4m${cards.map((index) => `GPU${index}`).join('\t')}\tNIC0\tCPU Affinity\u001b[0m`;
    const rows = cards.map(
      (row) => `GPU${row}\t${cards.map((column) => (row === column ? ' X ' : 'NV18')).join('\t')}\tSYS\t0-55`,
    );
    const matrix = parseTopology([header, ...rows].join('\n'));
    expect([...(matrix?.values() ?? [])].map((row) => row.size)).toEqual(Array(16).fill(15));
  });
});

test.each([
  ['nothing', ''],
  ['an error', 'Failed to initialize NVML: Unknown Error\n'],
  ['a header alone', '\tGPU0\tGPU1\n'],
  ['a broken device', 'Unable to determine the device handle for GPU0000:4E:00.0: GPU is lost\n'],
])('%s makes no matrix', (_says, text) => expect(parseTopology(text)).toBeNull());

test('words that are no link leave that link out', () => {
  expect(asObject('\tGPU0\tGPU1\tGPU2\nGPU0\tX\t?\tN/A\nGPU1\t?\tX\tPIX\n')).toEqual({
    0: {},
    1: { 2: 'PIX' },
    2: { 1: 'PIX' },
  });
});
