import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { defaultMachine } from '../../src/stand-in/machine/build-machine.js';
import type { Machine } from '../../src/stand-in/machine/machine.js';
import { putMachine, putStandIn } from './cached-stand-in.js';

/** How a command ended, with all its output. */
export interface Said {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running command. */
export interface Running {
  readonly ended: Promise<Said>;
  stdout(): string;
  stderr(): string;
  /** Writes to its standard input, which stays open. */
  type(text: string): void;
  kill(signal: NodeJS.Signals): void;
}

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input; closed at once if left out. */
  readonly input?: string;
  /** On a terminal of its own: `typed` comes from its keyboard, and standard error is merged with standard output. */
  readonly terminal?: boolean;
}

/** `gpu-gate` from the last build. */
export const COMMAND = fileURLToPath(new URL('../../dist/cli/gpu-gate.js', import.meta.url));

/**
 * Starts `gpu-gate` from the last build, with this environment and none of this machine's. Killed at the end of the test
 * file.
 */
export function startCommand(args: readonly string[], { env = {}, input, terminal }: CommandOptions = {}): Running {
  const words = [process.execPath, COMMAND, ...args];
  const [program, ...rest] = terminal
    ? [
        '/usr/bin/script',
        '--quiet',
        '--return',
        '--flush',
        '--command',
        `exec ${words.map(quoted).join(' ')}`,
        '/dev/null',
      ]
    : words;
  const child = spawn(program ?? '', rest, {
    env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent', TERM: 'xterm', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8');
    child[name].on('data', (chunk: string) => (texts[name] += chunk));
  }
  child.stdin.on('error', () => undefined);
  if (input !== undefined) child.stdin.end(input);
  else if (terminal !== true) child.stdin.end();
  const ended = new Promise<Said>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...texts }));
  });
  running.add(child);
  void ended.finally(() => running.delete(child)).catch(() => undefined);
  return {
    ended,
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
    type: (text) => void child.stdin.write(text),
    kill: (signal) => void child.kill(signal),
  };
}

/** The same, until it ends. */
export function runCommand(args: readonly string[], options: CommandOptions = {}): Promise<Said> {
  return startCommand(args, options).ended;
}

/** A folder for the calling file, with the stand-in as `nvidia-smi` in its `bin`, simulating this machine. */
export function folderWithCards(machine: Machine = defaultMachine()): {
  readonly folder: string;
  readonly env: Record<string, string>;
} {
  const folder = mkdtempSync(join(tmpdir(), 'command-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'bin'));
  symlinkSync(process.execPath, join(folder, 'bin/node'));
  putStandIn(join(folder, 'bin/nvidia-smi'));
  putMachine(join(folder, 'machine.json'), machine);
  return { folder, env: { PATH: join(folder, 'bin'), HOME: folder, STAND_IN_MACHINE: join(folder, 'machine.json') } };
}

const running = new Set<ReturnType<typeof spawn>>();

afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
});

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
