/** Runs `nvidia-smi` such that at most one process of a kind exists, however stuck the driver is. */

import type { Clock, Log } from '../../model/ports/outside.js';
import type { BlindReason, Probed } from '../../model/snapshot.js';
import { run, type Ran } from '../../program/run.js';
import { inTime } from '../../time/in-time.js';
import { clean } from './cell.js';

/** The program's output, or that it was not run because an earlier one of its kind has not ended. */
export type Answer = Ran | { readonly kind: 'overlap'; readonly pid: number | null; readonly sinceMs: number };

/**
 * A slot for one process of a kind. A process that is stuck in a driver call cannot be killed, and each new one would hang
 * too.
 */
export interface ProcessSlot {
  /** Runs the program with these arguments; refuses at once while an earlier process still exists. */
  ask(args: readonly string[], timeoutMs: number): Promise<Answer>;
}

/** How long a killed process may take to be reaped before the next call counts it as stuck. */
const REAPED_WITHIN_MS = 50;

/** Creates a slot for `program`. `says` names the kind in the log. */
export function createProcessSlot(says: string, program: string, clock: Clock, log: Log): ProcessSlot {
  let busy: { sinceMs: number; pid: number | null; gone: Promise<void> } | null = null;
  return {
    ask: async (args, timeoutMs) => {
      if (busy?.pid) await inTime(busy.gone, REAPED_WITHIN_MS, clock);
      if (busy !== null) return { kind: 'overlap', pid: busy.pid, sinceMs: busy.sinceMs };
      const sinceMs = clock.now();
      const running = run(program, args, timeoutMs);
      busy = { sinceMs, pid: null, gone: running.then(() => undefined) };
      const ran = await running;
      if (ran.kind !== 'ran_out') {
        busy = null;
        return ran;
      }
      log.warn(
        { pid: ran.pid, after_ms: ran.afterMs, args },
        `${says} did not end in time; it was killed, and no other is started until it is gone`,
      );
      busy = { sinceMs, pid: ran.pid, gone: ran.gone };
      void clearWhen(ran.gone, ran.pid);
      return ran;
    },
  };

  async function clearWhen(gone: Promise<void>, pid: number): Promise<void> {
    await gone;
    busy = null;
    log.info({ pid }, `${says} that did not end in time is gone now`);
  }
}

/** Why an answer proves nothing, in words for the operator. `asked` is the command as a person would type it. */
export function blindBecause(answer: Answer, asked: string, tookMs: number): Probed<never> & { kind: 'blind' } {
  const blind = (why: BlindReason, detail: string): Probed<never> & { kind: 'blind' } => ({
    kind: 'blind',
    why,
    detail,
    tookMs,
  });
  switch (answer.kind) {
    case 'exited': {
      const words = complaintIn(answer.stdout) ?? complaintIn(answer.stderr);
      if (answer.rc !== 0) return blind('exit', `${words ?? 'no word'} (exit code ${answer.rc} of ${asked})`);
      return blind(
        'parse',
        `expected a row for each card from ${asked}, got ${words === null ? 'nothing' : `"${words}"`}`,
      );
    }
    case 'killed':
      return blind('exit', `${asked} was ended by ${answer.signal}, not by us`);
    case 'not_started':
      return blind('spawn', `${asked} could not be started: ${clean(answer.detail)}; ${whatToDo(answer.detail)}`);
    case 'too_much':
      return blind('parse', `${asked} printed more than ${answer.limitBytes} bytes`);
    case 'ran_out':
      return blind('timeout', ranOut(answer, asked));
    case 'overlap':
      return blind('overlap', overlaps(answer, asked));
    default:
      return answer satisfies never;
  }
}

/** The kernel's error codes for an exhausted resource. */
const USED_UP = /\b(?:EMFILE|ENFILE|ENOMEM|EAGAIN)\b/;

function whatToDo(detail: string): string {
  return USED_UP.test(detail)
    ? 'descriptors, processes or memory are used up, of the gate or of the whole machine'
    : 'is it installed, and TUNEPLANE_NVIDIA_SMI right?';
}

function ranOut(answer: Answer & { kind: 'ran_out' }, asked: string): string {
  const why = answer.ended ? 'ended, but a child of it still holds its output open' : 'did not end';
  return `${asked} ${why} after ${answer.afterMs} ms; process ${answer.pid} was killed`;
}

function overlaps(answer: Answer & { kind: 'overlap' }, asked: string): string {
  const since = new Date(answer.sinceMs).toISOString();
  const who = answer.pid === null ? 'an earlier one' : `process ${answer.pid}`;
  return `${asked} was not started: ${who} has been running since ${since} and has not ended`;
}

/** The first line that is not a row; rows may come before the message that explains why they ended. */
function complaintIn(text: string): string | null {
  const lines = text.split('\n').map(clean);
  return (
    lines.find((line) => line !== '' && !/^(?:\d+|GPU-[^,]*),/.test(line)) ?? lines.find((line) => line !== '') ?? null
  );
}
