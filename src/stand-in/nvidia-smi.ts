#!/usr/bin/env node
/**
 * The stand-in `nvidia-smi`. `STAND_IN_MACHINE` names the description, read at each run; without it the machine is healthy
 * and has eight cards. `STAND_IN_LOG` names a file that gets a line of JSON when a run starts and when it ends (a killed run
 * writes no end). Standard error stays empty except for an unreadable description (exit code 78).
 */

import { appendFileSync, readFileSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorWords } from '../text/error-words.js';
import { answer, type Step } from './answer.js';
import { defaultMachine } from './machine/build-machine.js';
import type { Machine } from './machine/machine.js';
import { readMachine } from './machine/read-machine.js';

/** The longest delay of a Node timer. */
const LONGEST_SLEEP_MS = 2 ** 31 - 1;

const log = logTo(process.env['STAND_IN_LOG']);
const argv = process.argv.slice(2);
log({ event: 'start', pid: process.pid, argv, at_ms: Date.now() });
process.exitCode = await run(machineFrom(process.env['STAND_IN_MACHINE']));
log({ event: 'end', pid: process.pid, rc: process.exitCode, at_ms: Date.now() });

async function run(machine: Machine | Error): Promise<number> {
  if (machine instanceof Error) {
    writeAll(2, `stand-in nvidia-smi: ${machine.message}\n`);
    return 78;
  }
  const { steps, rc } = answer(machine, argv, new Date());
  if (steps.some(({ kind }) => kind === 'hang')) hearNothing();
  for (const step of steps) await take(step);
  return rc;
}

async function take(step: Step): Promise<void> {
  switch (step.kind) {
    case 'wait':
      await sleep(step.ms);
      return;
    case 'print':
      writeAll(1, step.text);
      return;
    case 'hang':
      for (;;) await sleep(LONGEST_SLEEP_MS);
    default:
      step satisfies never;
  }
}

/** The closest imitation of a process stuck in the driver: from before its first row, no signal but SIGKILL ends it. */
function hearNothing(): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2', 'SIGALRM'] as const) {
    process.on(signal, () => undefined);
  }
}

function machineFrom(path: string | undefined): Machine | Error {
  if (path === undefined || path === '') return defaultMachine();
  try {
    return readMachine(readFileSync(path, 'utf8'));
  } catch (error) {
    return new Error(`STAND_IN_MACHINE=${path}: ${errorWords(error)}`, {
      cause: error,
    });
  }
}

/**
 * Writes synchronously, and retries where a pipe took only part: rows must be out before a hang. A closed pipe ends the run
 * silently.
 */
function writeAll(fd: 1 | 2, text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
    }
  }
}

function logTo(path: string | undefined): (line: object) => void {
  return (line) => {
    if (path !== undefined && path !== '') appendFileSync(path, `${JSON.stringify(line)}\n`);
  };
}
