import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { clearAway, processesOf, ROOT_VARIABLE } from './left-overs.mjs';

test('what a run left behind is told, ended, unmounted and removed', async () => {
  const root = mkdtempSync(join(tmpdir(), 'left-'));
  const place = join(root, 'a mount');
  mkdirSync(place);
  execFileSync('mount', ['-t', 'tmpfs', 'none', place]);
  // One with the variable, one without it that does not descend from such a process, one that only works in the folder.
  leave(root, 'env -i sleep 301 & exec sleep 302');
  leave(root, `cd '${root}' && exec env -u ${ROOT_VARIABLE} sleep 303`);
  await expect.poll(() => commands(root)).toEqual(['sleep 301', 'sleep 302', 'sleep 303']);

  const told = await clearAway(root, 100);

  expect(told).toHaveLength(4);
  expect(told.filter((each) => /^process \d+: sleep 30[123]$/.test(each))).toHaveLength(3);
  expect(told).toContain(`mount ${place}`);
  expect(processesOf(root)).toEqual([]);
  expect(existsSync(root)).toBe(false);
});

test('files alone, and a process that is just ending, were not left behind', async () => {
  const root = mkdtempSync(join(tmpdir(), 'left-'));
  writeFileSync(join(root, 'a file'), '');
  leave(root, 'exec sleep 0.3');
  await expect.poll(() => commands(root)).toEqual(['sleep 0.3']);
  expect(await clearAway(root)).toEqual([]);
  expect(existsSync(root)).toBe(false);
});

test('processes of another run are left alone', async () => {
  const [root, other] = [mkdtempSync(join(tmpdir(), 'left-')), mkdtempSync(join(tmpdir(), 'left-'))];
  leave(other, 'exec sleep 304');
  await expect.poll(() => commands(other)).toEqual(['sleep 304']);
  expect(await clearAway(root, 0)).toEqual([]);
  expect(commands(other)).toEqual(['sleep 304']);
  await clearAway(other, 0);
});

function leave(root: string, script: string): void {
  const child = spawn('sh', ['-c', script], {
    env: { ...process.env, [ROOT_VARIABLE]: root },
    stdio: 'ignore',
    detached: true,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
}

const commands = (root: string) =>
  processesOf(root)
    .map((each) => each.command)
    .toSorted();
