import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { cardAt, defaultMachine, healthyMachine, putLoad } from '../../src/stand-in/machine/build-machine.js';
import { installed } from './program.js';
import { said } from './said.js';

const USED = ['--query-gpu=index,memory.used', '--format=csv,noheader,nounits'];

test('as a link on PATH and without a description it plays eight idle cards, and says nothing on standard error', async () => {
  const run = installed().start('-L');
  expect(await run.ended).toEqual({ rc: 0, signal: null });
  expect(run.stdout()).toBe(said(defaultMachine(), '-L').stdout);
  expect(run.stderr()).toBe('');
});

test('the description is read anew at each run', async () => {
  const { setMachine, start } = installed();
  const machine = healthyMachine({ cards: 2 });
  putLoad(cardAt(machine, 1), 900);
  setMachine(machine);
  const first = start(...USED);
  await first.ended;
  cardAt(machine, 1).fault = { kind: 'handle', error: 'lost' };
  setMachine(machine);
  const second = start(...USED);
  expect(await second.ended).toEqual({ rc: 15, signal: null });
  expect(first.stdout()).toBe('0, 0\n1, 900\n');
  expect(second.stdout()).toMatch(/^Unable to determine the device handle for GPU0000:29:00\.0: GPU is lost\./);
  expect(second.stderr()).toBe('');
});

test('a run that hangs on a card has written the rows before it, and only SIGKILL ends it', async () => {
  const { setMachine, start, log } = installed();
  setMachine({ ...healthyMachine(), hang: { at: 3 } });
  const run = start(...USED);
  await run.wrote(3);
  run.kill('SIGTERM');
  run.kill('SIGINT');
  await sleep(200);
  expect(log().map(({ event, pid }) => [event, pid])).toEqual([['start', run.pid]]);
  run.kill('SIGKILL');
  expect(await run.ended).toEqual({ rc: null, signal: 'SIGKILL' });
  expect(run.stdout()).toBe('0, 0\n1, 0\n2, 0\n');
});

test('a run that is only slow ends at SIGTERM', async () => {
  const { setMachine, start } = installed();
  setMachine({ ...healthyMachine(), delay_ms: 60_000 });
  const run = start('-L');
  await sleep(300);
  run.kill('SIGTERM');
  expect(await run.ended).toEqual({ rc: null, signal: 'SIGTERM' });
  expect(run.stdout()).toBe('');
});

test('the log tells which runs overlapped, what they were asked and how they ended', async () => {
  const { setMachine, start, log } = installed();
  setMachine({ ...healthyMachine({ cards: 1 }), delay_ms: { gpu: 3000 }, fault: 'library_mismatch' });
  const slow = start(...USED);
  while (slow.stdout() === '' && !startedIn(log)) await sleep(10);
  const quick = start('-L');
  await Promise.all([slow.ended, quick.ended]);
  const lines = log().map(({ event, pid, argv, rc }) => ({ event, pid, argv, rc }));
  expect(lines).toEqual([
    { event: 'start', pid: slow.pid, argv: USED, rc: undefined },
    { event: 'start', pid: quick.pid, argv: ['-L'], rc: undefined },
    { event: 'end', pid: quick.pid, argv: undefined, rc: 18 },
    { event: 'end', pid: slow.pid, argv: undefined, rc: 18 },
  ]);
  const [begin, , , end] = log();
  expect((end?.at_ms ?? 0) - (begin?.at_ms ?? 0)).toBeGreaterThanOrEqual(3000);
});

test('a description that cannot be read is an error of ours: standard error, exit code 78', async () => {
  const { setMachine, start } = installed();
  setMachine('{"driver": "590.48.01", "cards": [{"memory_used_mib": "900"}]}');
  const run = start('-L');
  expect(await run.ended).toEqual({ rc: 78, signal: null });
  expect(run.stdout()).toBe('');
  expect(run.stderr()).toMatch(/machine\.cards\[0\]\.memory_used_mib: expected a number, 0 or more, found "900"\n$/);
});

function startedIn(log: () => unknown[]): boolean {
  try {
    return log().length > 0;
  } catch {
    return false;
  }
}
