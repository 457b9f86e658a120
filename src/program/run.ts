import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import process from 'node:process';
import type { Readable } from 'node:stream';
import { execa, type Options, type ResultPromise } from 'execa';
import type { Clock } from '../model/ports/outside.js';
import { deadlineIn } from '../time/deadline.js';
import { inTime } from '../time/in-time.js';
import { systemClock } from '../time/system-clock.js';

/** The result of one run of a program. Never an exception. */
export type Ran =
  /** It ended by itself, and this is its complete output. */
  | { readonly kind: 'exited'; readonly rc: number; readonly stdout: string; readonly stderr: string }
  /** A signal that we did not send ended it: its output may be incomplete. */
  | { readonly kind: 'killed'; readonly signal: string }
  /** The program does not exist, or may not be executed. */
  | { readonly kind: 'not_started'; readonly detail: string }
  | { readonly kind: 'too_much'; readonly limitBytes: number }
  /**
   * It exceeded its time limit, got SIGKILL and was abandoned. `ended`: the program itself had ended, but a child of it
   * still holds its output open. `gone` settles when nothing of it is left; for a process stuck in a driver, maybe never.
   */
  | {
      readonly kind: 'ran_out';
      readonly pid: number;
      readonly afterMs: number;
      readonly ended: boolean;
      readonly gone: Promise<void>;
    };

const MOST_BYTES = 1_000_000;

/**
 * Runs a program and answers within `timeoutMs`, whatever the program does. execa's own `timeout` does not guarantee that:
 * it settles only when the child has died and its pipes are closed, and a process stuck in the driver does neither.
 */
export async function run(
  program: string,
  args: readonly string[],
  timeoutMs: number,
  clock: Pick<Clock, 'after' | 'monotonic'> = systemClock,
): Promise<Ran> {
  const started = await start(program, args);
  if (started.kind === 'not_started') return started;
  const { child } = started;
  const gone = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  const kill = (): void => killGroup(child.pid);
  // A process must not outlive the gate.
  process.once('exit', kill);
  const forget = (): void => {
    process.off('exit', kill);
  };
  void gone.then(forget);

  const deadline = deadlineIn(timeoutMs, clock);
  const ended = child.then(toRan, (error: unknown): Ran => ({ kind: 'not_started', detail: String(error) }));
  const ran = (await inTime(ended, timeoutMs, clock))?.value;
  if (ran?.kind === 'not_started') forget();
  if (ran === undefined || ran.kind === 'too_much') kill();
  if (ran !== undefined) return ran;
  child.unref();
  unref(child.stdout);
  unref(child.stderr);
  return { kind: 'ran_out', pid: child.pid ?? 0, afterMs: deadline.took(), ended: child.exitCode !== null, gone };
}

const OPTIONS = {
  env: { LC_ALL: 'C' },
  stdin: 'ignore',
  maxBuffer: MOST_BYTES,
  killSignal: 'SIGKILL',
  stripFinalNewline: false,
  reject: false,
  // A process group of its own, so that a wrapper script and its children are killed together.
  detached: true,
  cleanup: false,
} satisfies Options;

type Child = ResultPromise<typeof OPTIONS>;

/**
 * Starts the program; failing to is an answer. With no descriptors left for its pipes, Node returns a child without streams and
 * reports the error as an event; execa throws on the missing streams, and the unhandled event would end our process. So this
 * listens for it where Node announces each child it creates.
 */
async function start(
  program: string,
  args: readonly string[],
): Promise<{ readonly kind: 'started'; readonly child: Child } | (Ran & { readonly kind: 'not_started' })> {
  let failed: Error | null = null;
  const listen = (message: unknown): void => {
    (message as { readonly process: ChildProcess }).process.once('error', (error) => (failed = error));
  };
  subscribe(CHILD_CREATED, listen);
  try {
    return { kind: 'started', child: execa(program, args, OPTIONS) };
  } catch (error) {
    await new Promise<void>((resolve) => process.nextTick(resolve));
    return { kind: 'not_started', detail: ((failed ?? error) as Error).message };
  } finally {
    unsubscribe(CHILD_CREATED, listen);
  }
}

/** Node's diagnostics channel that announces each new child process. */
const CHILD_CREATED = 'child_process';

interface Result {
  readonly exitCode?: number | undefined;
  readonly signal?: string | undefined;
  readonly isMaxBuffer: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly originalMessage?: string | undefined;
}

function toRan(result: Result): Ran {
  if (result.isMaxBuffer) return { kind: 'too_much', limitBytes: MOST_BYTES };
  if (result.exitCode !== undefined) {
    return { kind: 'exited', rc: result.exitCode, stdout: result.stdout, stderr: result.stderr };
  }
  if (result.signal !== undefined) return { kind: 'killed', signal: result.signal };
  return { kind: 'not_started', detail: result.originalMessage ?? 'it could not be started' };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}

/** The pipes stay open, so that `gone` settles only when nobody holds them; they must not keep our own process alive. */
function unref(pipe: Readable): void {
  (pipe as Socket).unref();
}
