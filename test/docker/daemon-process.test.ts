import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { daemonsSeen, findHook } from '../../src/docker/daemon-process.js';

let proc: string;
beforeEach(() => {
  proc = mkdtempSync(join(tmpdir(), 'proc-'));
});
afterEach(() => rmSync(proc, { recursive: true }));

/** A process as /proc shows it; `hook` puts NVIDIA's into that folder of its root. */
function process(pid: number, words: readonly string[], path: string | null, hook: string | null = null): void {
  const folder = join(proc, String(pid));
  mkdirSync(folder);
  writeFileSync(join(folder, 'comm'), `${words[0]}\n`);
  writeFileSync(join(folder, 'cmdline'), words.join('\0'));
  if (path !== null) writeFileSync(join(folder, 'environ'), `A=b\0PATH=${path}\0`);
  if (hook === null) return;
  mkdirSync(join(folder, 'root', hook), { recursive: true });
  writeFileSync(join(folder, 'root', hook, 'nvidia-container-runtime-hook'), '', { mode: 0o755 });
}

test('the hook is looked for on the PATH of the daemon, below its root', async () => {
  process(7, ['dockerd', '-H', 'fd://'], '/usr/local/bin:/usr/bin', '/usr/bin');
  process(8, ['bash'], '/opt', '/opt');
  expect(await daemonsSeen(proc)).toBe(1);
  expect(await findHook('unix:///var/run/docker.sock', proc)).toMatchObject({
    kind: 'seen',
    value: '/usr/bin/nvidia-container-runtime-hook',
  });
});

test('one that lies elsewhere is none', async () => {
  process(7, ['dockerd'], '/usr/local/bin', '/usr/bin');
  expect(await findHook('unix:///var/run/docker.sock', proc)).toMatchObject({ kind: 'seen', value: null });
});

test('of several daemons the one counts that serves our socket', async () => {
  process(7, ['dockerd', '--host=unix:///a.sock'], '/a', '/a');
  process(8, ['dockerd', '--host=unix:///b.sock'], '/b');
  expect(await findHook('unix:///a.sock', proc)).toMatchObject({ value: '/a/nvidia-container-runtime-hook' });
  expect(await findHook('unix:///b.sock', proc)).toMatchObject({ value: null });
  expect(await findHook('unix:///c.sock', proc)).toMatchObject({
    kind: 'blind',
    detail: expect.stringMatching(/2 daemons/),
  });
});

test('a daemon that cannot be seen, or not be looked into, tells nothing', async () => {
  expect(await findHook('unix:///a.sock', proc)).toMatchObject({
    kind: 'blind',
    detail: expect.stringMatching(/no dockerd/),
  });
  process(7, ['dockerd'], null);
  expect(await findHook('unix:///a.sock', proc)).toMatchObject({
    kind: 'blind',
    detail: expect.stringMatching(/its user or root/),
  });
});
