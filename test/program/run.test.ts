import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { afterAll, describe, expect, test } from 'vitest';
import { run, type Ran } from '../../src/program/run.js';
import { inTime } from '../../src/time/in-time.js';
import { systemClock } from '../../src/time/system-clock.js';
import { createScriptFolder, until } from '../probe/nvidia-smi/program.js';
import { bundle } from '../support/running/bundle.js';

const scripts = createScriptFolder();
afterAll(() => scripts.cleanUp());

const LONG = 10_000;

describe('a program that ends', () => {
  test('is answered with its exit code and its output, whatever the code', async () => {
    const program = scripts.program('echo "No devices were found"; echo hint >&2; exit 6');
    expect(await run(program, [], LONG)).toEqual({
      kind: 'exited',
      rc: 6,
      stdout: 'No devices were found\n',
      stderr: 'hint\n',
    });
  });

  test('gets its arguments as they are and speaks the C locale', async () => {
    const program = scripts.program('printf "%s|" "$LC_ALL" "$@"');
    expect(await run(program, ['-i', '0, 1', '$HOME'], LONG)).toMatchObject({ stdout: 'C|-i|0, 1|$HOME|' });
  });

  test('has nothing to read from, so that it cannot wait for us', async () => {
    expect(await run(scripts.program('read line; echo "got <$line>"'), [], LONG)).toMatchObject({ stdout: 'got <>\n' });
  });

  test('and was ended by another is told apart from one that exited', async () => {
    expect(await run(scripts.program('echo half; kill -KILL $$'), [], LONG)).toEqual({
      kind: 'killed',
      signal: 'SIGKILL',
    });
  });
});

describe('a program that cannot be started', () => {
  test.each([
    ['is not there', '/nowhere/nvidia-smi', 'ENOENT'],
    ['may not be run', import.meta.filename, 'EACCES'],
    ['is not on PATH', 'no-such-nvidia-smi', 'ENOENT'],
  ])('because it %s', async (_says, program, code) => {
    await sleep(20);
    const before = process.listenerCount('exit');
    const ran = await run(program, [], LONG);
    expect(ran).toMatchObject({ kind: 'not_started', detail: expect.stringContaining(code) });
    expect(process.listenerCount('exit')).toBe(before);
  });
});

test('a program that prints without end is stopped, and no part of it is used', async () => {
  const ran = await run(scripts.program('exec yes 0, GPU-'), [], LONG);
  expect(ran).toEqual({ kind: 'too_much', limitBytes: 1_000_000 });
});

describe('a program that outlives its time', () => {
  test.each([
    ['sleeps', 'exec sleep 60'],
    ['ignores TERM', 'trap "" TERM INT HUP; while :; do sleep 1; done'],
    ['prints half its rows and hangs', 'echo "0, GPU-a"; exec sleep 60'],
    ['leaves the work to a child of its own', 'sleep 60; echo done'],
  ])('and %s is answered in time, without a row, and is gone soon after', async (_says, script) => {
    const startedAt = performance.now();
    const ran = await run(scripts.program(script), [], 300);
    expect(performance.now() - startedAt).toBeLessThan(2000);
    expect(ran).toMatchObject({ kind: 'ran_out', ended: false });
    expect(ran).not.toHaveProperty('stdout');
    expect(await inTime(goneOf(ran), 5000, systemClock)).not.toBeNull();
  });

  test('because something that it started holds its output is told apart, and is gone with it', async () => {
    const ran = await run(scripts.program('sleep 60 & echo "0, GPU-a"'), [], 300);
    expect(ran).toMatchObject({ kind: 'ran_out', ended: true });
    expect(await inTime(goneOf(ran), 5000, systemClock)).not.toBeNull();
  });

  test('is not called gone while something of it lives that our signal did not reach', async () => {
    const ran = await run(scripts.program('setsid sleep 1 & exec sleep 60'), [], 200);
    expect(await inTime(goneOf(ran), 300, systemClock)).toBeNull();
    expect(await inTime(goneOf(ran), 5000, systemClock)).not.toBeNull();
  });

  test('leaves no listener behind once it is gone', async () => {
    await sleep(20);
    const before = process.listenerCount('exit');
    const ran = await run(scripts.program('exec sleep 60'), [], 100);
    await goneOf(ran);
    await sleep(0);
    expect(process.listenerCount('exit')).toBe(before);
  });
});

test('what still runs when we end is ended with us', async () => {
  const hung = scripts.program('echo $$ > "$HERE/hung"; exec sleep 60');
  const file = join(scripts.folder, 'hung');
  const runModule = await bundle(join(import.meta.dirname, '../../src/program/run.ts'), scripts.folder);
  const script = `import { existsSync, readFileSync } from 'node:fs';
    import { run } from '${runModule}';
    void run('${hung}', [], 60_000);
    setInterval(() => existsSync('${file}') && readFileSync('${file}', 'utf8') !== '' && process.exit(0), 10);`;
  writeFileSync(join(scripts.folder, 'gate.mjs'), script);
  await execa(process.execPath, [join(scripts.folder, 'gate.mjs')]);
  const status = `/proc/${readFileSync(file, 'utf8').trim()}/status`;
  await until('it is killed', () => !existsSync(status) || /^State:\s+Z/m.test(readFileSync(status, 'utf8')));
});

function goneOf(ran: Ran): Promise<void> {
  if (ran.kind !== 'ran_out') throw new Error(`expected a program that ran out of time, got ${ran.kind}`);
  return ran.gone;
}
