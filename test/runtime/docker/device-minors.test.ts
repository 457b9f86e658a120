import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { resolveDeviceFiles } from '../../../src/runtime/docker/device-minors.js';

/** As the driver writes it: https://github.com/NVIDIA/open-gpu-kernel-modules, kernel-open/nvidia/nv-procfs.c */
const information = (uuid: string, minor: number) => `Model: \t\t NVIDIA H100 80GB HBM3
IRQ:   \t\t 189
GPU UUID: \t ${uuid}
Video BIOS: \t 96.00.74.00.01
Bus Type: \t PCIe
Bus Location: \t 0000:1b:00.0
Device Minor: \t ${minor}
GPU Excluded:\t No
`;

const folder = mkdtempSync(join(tmpdir(), 'driver-'));
afterAll(() => rmSync(folder, { recursive: true }));
for (const [bus, text] of [
  ['0000:1b:00.0', information('GPU-aaaa1111-0000-4000-8000-000000000000', 1)],
  ['0000:3b:00.0', information('GPU-bbbb2222-0000-4000-8000-000000000000', 0)],
  ['0000:5b:00.0', information('GPU-????????-????-????-????-????????????', 2)],
] as const) {
  mkdirSync(join(folder, bus));
  writeFileSync(join(folder, bus, 'information'), text);
}

test.each([
  [
    'the driver says which card has the minor number, which is not its index',
    ['/dev/nvidia1'],
    ['GPU-aaaa1111-0000-4000-8000-000000000000'],
  ],
  ['a card whose uuid the driver does not know yet keeps its file', ['/dev/nvidia2'], ['/dev/nvidia2']],
  ['a file that the driver has no card for stays', ['/dev/nvidia7'], ['/dev/nvidia7']],
  [
    'other ids stay as they are',
    ['GPU-x', '3', '/dev/nvidia0'],
    ['GPU-x', '3', 'GPU-bbbb2222-0000-4000-8000-000000000000'],
  ],
])('%s', async (_says, ids, expected) => expect(await resolveDeviceFiles(ids, folder)).toEqual(expected));

test('without the folder of the driver the number is read as an index', async () => {
  expect(await resolveDeviceFiles(['/dev/nvidia3'], '/no/such/folder')).toEqual(['/dev/nvidia3']);
});
