import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JudgedCard } from '../../src/model/occupancy.js';
import { createJobMapping } from '../../src/observe/job-mapping.js';
import { card, claim, watched } from '../metrics/occupancies.js';
import { recordingLog } from '../probe/nvidia-smi/program.js';

let folder: string;
let log = recordingLog();
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'job-mapping-')), 'map');
  log = recordingLog();
});
afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

const held = (index: number, ...runs: string[]): JudgedCard =>
  card(index, { state: 'job_held', claims: runs.map(claim) });
const files = (): Record<string, string> =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));

async function tell(...looks: readonly (readonly JudgedCard[])[]): Promise<void> {
  const mapping = createJobMapping(folder, log);
  for (const cards of looks) mapping.told(watched(cards).occupancy);
  await mapping.settled();
}

test('each held card has a file by its index, with a line for each run', async () => {
  await tell([held(0, 'train-17'), held(1, 'train-17'), card(2), held(10, 'a', 'b')]);
  expect(files()).toEqual({ '0': 'train-17\n', '1': 'train-17\n', '10': 'a\nb\n' });
});

test('a card that comes free has none any more, and one that changes hands has the new run', async () => {
  await tell([held(0, 'a'), held(1, 'b')], [card(0), held(1, 'c')]);
  expect(files()).toEqual({ '1': 'c\n' });
});

test('what an earlier life left is put right, and files of others stay', async () => {
  mkdirSync(folder);
  writeFileSync(join(folder, '7'), 'long gone\n');
  writeFileSync(join(folder, 'README'), 'mine\n');
  await tell([held(0, 'a')]);
  expect(files()).toEqual({ '0': 'a\n', README: 'mine\n' });
});

test('while the containers cannot be listed what stands is left', async () => {
  const mapping = createJobMapping(folder, log);
  mapping.told(watched([held(0, 'a')]).occupancy);
  await mapping.settled();
  mapping.told(watched([card(0, { state: 'unknown' })], { docker: 'unavailable' }).occupancy);
  await mapping.settled();
  expect(files()).toEqual({ '0': 'a\n' });
});

test('a folder that cannot be written is told once, and written when it can be', async () => {
  writeFileSync(folder, 'a file');
  const mapping = createJobMapping(folder, log);
  for (let nth = 0; nth < 2; nth += 1) {
    mapping.told(watched([held(0, 'a')]).occupancy);
    await mapping.settled();
  }
  expect(log.sentences).toEqual([expect.stringContaining('cannot be written')]);
  rmSync(folder);
  mapping.told(watched([held(0, 'a')]).occupancy);
  await mapping.settled();
  expect(files()).toEqual({ '0': 'a\n' });
});
