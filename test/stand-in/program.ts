import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { Machine } from '../../src/stand-in/machine/machine.js';

/** The compiled program; `npm test` builds it first. */
const PROGRAM = fileURLToPath(new URL('../../dist/stand-in/nvidia-smi.js', import.meta.url));

/** A folder with a machine, a log, and the program as `nvidia-smi` on PATH, as an operator has it. */
export interface Installed {
  /** Sets another machine, or an invalid text. */
  setMachine: (machine: Machine | string) => void;
  start: (...argv: string[]) => Run;
  /** The lines of the log so far. */
  log: () => { event: 'start' | 'end'; pid: number; argv?: string[]; rc?: number; at_ms: number }[];
}

/** A run under way. */
export interface Run {
  pid: number;
  kill: (signal: NodeJS.Signals) => void;
  /** Its output so far. */
  stdout: () => string;
  stderr: () => string;
  /** Resolves when at least this many lines are out. */
  wrote: (lines: number) => Promise<void>;
  ended: Promise<{ rc: number | null; signal: NodeJS.Signals | null }>;
}

/** Installs the program for one test; afterwards its runs are killed and the folder is removed. */
export function installed(): Installed {
  const folder = mkdtempSync(join(tmpdir(), 'stand-in-'));
  const runs: Run[] = [];
  onTestFinished(async () => {
    for (const run of runs) run.kill('SIGKILL');
    await Promise.all(runs.map((run) => run.ended));
    rmSync(folder, { recursive: true, force: true });
  });
  symlinkSync(PROGRAM, join(folder, 'nvidia-smi'));
  const [machine, log] = [join(folder, 'machine.json'), join(folder, 'log')];
  const env = { ...process.env, PATH: [folder, process.env['PATH']].join(delimiter), STAND_IN_LOG: log };
  return {
    setMachine: (it) => writeFileSync(machine, typeof it === 'string' ? it : JSON.stringify(it)),
    start: (...argv) => {
      const run = started(argv, existsSync(machine) ? { ...env, STAND_IN_MACHINE: machine } : env);
      runs.push(run);
      return run;
    },
    log: () =>
      readFileSync(log, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
  };
}

function started(argv: readonly string[], env: NodeJS.ProcessEnv): Run {
  const child = spawn('nvidia-smi', argv, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr]: [string[], string[]] = [[], []];
  const waiting = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout.push(chunk);
    for (const look of waiting) look();
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => stderr.push(chunk));
  return {
    pid: child.pid ?? 0,
    kill: (signal) => child.kill(signal),
    stdout: () => stdout.join(''),
    stderr: () => stderr.join(''),
    wrote: (lines) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (stdout.join('').split('\n').length > lines) resolve();
        };
        waiting.add(look);
        look();
      }),
    ended: new Promise((resolve) => child.once('close', (rc, signal) => resolve({ rc, signal }))),
  };
}
