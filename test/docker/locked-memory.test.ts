import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lockedMemoryLimit } from '../../src/docker/locked-memory.js';

let proc: string;
beforeEach(() => {
  proc = mkdtempSync(join(tmpdir(), 'proc-'));
});
afterEach(() => rmSync(proc, { recursive: true }));

function process(pid: number, comm: string, capabilities: string, hard: string): void {
  const folder = join(proc, String(pid));
  mkdirSync(folder);
  writeFileSync(join(folder, 'comm'), `${comm}\n`);
  writeFileSync(join(folder, 'status'), `Name:\t${comm}\nCapEff:\t${capabilities}\n`);
  writeFileSync(
    join(folder, 'limits'),
    `Max locked memory         8388608              ${hard}              bytes     \n`,
  );
}
const FULL = '000001ffffffffff';
const WITHOUT_SYS_RESOURCE = '000001fffeffffff';

test('a daemon that may lift limits gives all', async () => {
  process(7, 'dockerd', FULL, '8388608');
  expect(await lockedMemoryLimit(proc)).toBe(-1);
});

test('a daemon that may not gives what it has', async () => {
  process(7, 'dockerd', WITHOUT_SYS_RESOURCE, '8388608');
  process(8, 'bash', FULL, 'unlimited');
  expect(await lockedMemoryLimit(proc)).toBe(8_388_608);
});

test('a daemon without a limit has none to give', async () => {
  process(7, 'dockerd', WITHOUT_SYS_RESOURCE, 'unlimited');
  expect(await lockedMemoryLimit(proc)).toBe(-1);
});

test('of two daemons the more generous one counts', async () => {
  process(7, 'dockerd', WITHOUT_SYS_RESOURCE, '65536');
  process(8, 'dockerd', FULL, '65536');
  expect(await lockedMemoryLimit(proc)).toBe(-1);
});

test('where no daemon can be seen nothing is held against it', async () => {
  process(8, 'bash', WITHOUT_SYS_RESOURCE, '65536');
  expect(await lockedMemoryLimit(proc)).toBe(-1);
  expect(await lockedMemoryLimit(join(proc, 'none'))).toBe(-1);
});
