import { describe, expect, test } from 'vitest';
import { normalBusId, parseList } from '../../../src/probe/nvidia-smi/parse-list.js';

const healthy = (index: number): string =>
  `GPU ${index}: NVIDIA H100 80GB HBM3 (UUID: GPU-5a5fbd25-1c5e-4d32-96b1-00000000000${index})`;
const lost = (bus: string, words = 'GPU is lost'): string =>
  `Unable to determine the device handle for gpu 0000:${bus}:00.0: ${words}`;

describe('the cards that answer', () => {
  test('are listed with their true indices, MIG lines are none', () => {
    const mig = '  MIG 3g.40gb     Device  0: (UUID: MIG-a1b20001-5c1e-5d32-96b1-7dd6d9d4b2a1)';
    expect(parseList(`${healthy(0)}\n${mig}\n${healthy(1)}\n`)).toEqual({ indices: [0, 1], broken: [] });
  });
  test.each(['', 'No devices found.\n', 'Failed to initialize NVML: Unknown Error\n'])('are none in %j', (text) => {
    expect(parseList(text)).toEqual({ indices: [], broken: [] });
  });
});

describe('a broken card', () => {
  test.each([
    ['in the middle', [healthy(0), lost('4e'), healthy(2)], [1]],
    ['at the start', [lost('4e'), healthy(1)], [0]],
    ['at the end', [healthy(0), lost('4e')], [1]],
    ['two side by side', [healthy(0), lost('4e'), lost('9b'), healthy(3)], [1, 2]],
    ['two apart', [lost('1b'), healthy(1), lost('4e'), healthy(3)], [0, 2]],
    ['more room than complaints', [healthy(0), lost('4e'), healthy(3)], [null]],
    ['less room than complaints', [healthy(0), lost('4e'), healthy(1)], [null]],
    ['alone', [lost('4e')], [0]],
  ])('has the index that its neighbours leave open: %s', (_says, lines, indices) => {
    expect(parseList(`${lines.join('\n')}\n`).broken.map(({ index }) => index)).toEqual(indices);
  });

  test.each([
    [
      'lost',
      `${lost('4e', 'GPU is lost.  Reboot the system to recover this GPU')}\n\n`,
      'GPU is lost.  Reboot the system to recover this GPU',
    ],
    [
      'in need of a reset',
      `${lost('4E', 'A GPU reset must occur before this GPU can be used again.')}\n\n.`,
      'A GPU reset must occur before this GPU can be used again.',
    ],
    [
      'short of power, over several lines',
      `${lost('4E', 'Unable to communicate with GPU because it is insufficiently powered.')}\nThis may be because not all required external power cables are\nattached, or the attached cables are not seated properly.\n\n`,
      'Unable to communicate with GPU because it is insufficiently powered. This may be because not all required external power cables are attached, or the attached cables are not seated properly.',
    ],
    ['nameless', 'Unable to determine the product name for gpu 0000:4E:00.0: GPU requires reset', 'GPU requires reset'],
    [
      'written without a blank',
      'Unable to determine the device handle for GPU0000:4E:00.0: Unknown Error',
      'Unknown Error',
    ],
  ])('has the words of the driver: %s', (_says, complaint, words) => {
    const { broken, indices } = parseList(`${healthy(0)}\n${complaint}\n${healthy(2)}\n`);
    expect(broken).toEqual([{ index: 1, pciBusId: '00000000:4E:00.0', words, denied: false }]);
    expect(indices).toEqual([0, 2]);
  });

  test('that we may not see is not called broken by the driver', () => {
    expect(parseList(`${lost('4e', 'Insufficient Permissions')}\n${healthy(1)}\n`).broken).toMatchObject([
      { index: 0, denied: true },
    ]);
  });
});

test.each([
  ['0000:4e:00.0', '00000000:4E:00.0'],
  ['00000000:4E:00.0', '00000000:4E:00.0'],
  ['0001:0b:00.0', '00000001:0B:00.0'],
])('the address %s is %s in every other output', (address, normal) => expect(normalBusId(address)).toBe(normal));
