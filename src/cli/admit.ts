/** `gpu-gate admit`: posts a request, prints the decision, and with `--wait` retries while the gate says `wait`. */

import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { pause } from '../time/pause.js';
import { systemClock } from '../time/system-clock.js';
import { findGate, type Gate, type GateOptions } from './client/ask-gate.js';
import { outcomeOf, type Outcome } from './client/decision-words.js';
import { EXIT } from './terminal/exit-codes.js';
import { untilInterrupted } from './terminal/interrupt.js';
import { createProgress } from './terminal/progress.js';
import { complain, say, sayJson } from './terminal/say.js';

export interface AdmitOptions extends GateOptions {
  /** `-` is standard input. */
  readonly file: string;
  readonly dryRun?: boolean;
  /** True: without a limit; a text: so many seconds. */
  readonly wait?: boolean | string;
  readonly json?: boolean;
}

/** The gate answers within its own limits for lock, pull and start together, which an operator may have raised. */
const ANSWER_MS = 10 * 60_000;

export async function admit(options: AdmitOptions): Promise<void> {
  const waitMs = readWait(options.wait);
  const request = await readRequest(options.file);
  const found = findGate(options, process.env);
  const problems = [waitMs, request, found].flatMap((each) => (each.kind === 'problem' ? [each.detail] : []));
  if (waitMs.kind === 'problem' || request.kind === 'problem' || found.kind === 'problem') {
    complain(...problems);
    process.exitCode = EXIT.usage;
    return;
  }
  complain(...found.warnings);
  const interrupted = untilInterrupted();
  const path = options.dryRun === true ? '/admit?dry_run=true' : '/admit';
  const post = () =>
    found.gate.ask(path, { method: 'POST', body: request.text, limitMs: ANSWER_MS, signal: interrupted });
  const outcome = await askUntilDecided(post, found.gate, waitMs.ms, interrupted);
  if (outcome.kind === 'interrupted') {
    complain(outcome.detail);
    process.exitCode = EXIT.interrupted;
    return;
  }
  const { lines, exit, body } = outcome.outcome;
  if (options.json === true && body !== null) sayJson(body);
  else if (exit === EXIT.refused || exit === EXIT.undecided) complain(...lines);
  else say(...lines);
  process.exitCode = exit;
}

type Asked =
  | { readonly kind: 'told'; readonly outcome: Outcome }
  | { readonly kind: 'interrupted'; readonly detail: string };

/**
 * Posts, and while the gate says `wait`, posts again after the time that the gate asks for. If a gate that has answered once
 * stops answering, it is being restarted, and the command retries; if it never answered, the address is wrong. A request is
 * started only once, however often it is posted.
 */
async function askUntilDecided(
  post: () => ReturnType<Gate['ask']>,
  gate: Gate,
  waitMs: number,
  interrupted: AbortSignal,
): Promise<Asked> {
  const began = performance.now();
  const progress = createProgress(process.stderr, () => performance.now());
  try {
    for (let answered = false; ;) {
      const said = await post();
      if (interrupted.aborted) {
        const detail = `interrupted while the gate at ${gate.written} was deciding: the job may have been started, which gpu-gate runs shows`;
        return { kind: 'interrupted', detail };
      }
      const outcome = outcomeOf(said);
      answered ||= said.kind === 'answered';
      const until = performance.now() + (outcome.againInS ?? 0) * 1000;
      if (outcome.againInS === null || !answered || until - began > waitMs) return { kind: 'told', outcome };
      const says = outcome.lines.map((line) => line.trim()).join('; ');
      for (let left = until - performance.now(); left > 0 && !interrupted.aborted; left = until - performance.now()) {
        progress.show(says, `${clock(performance.now() - began)}, asks again in ${Math.ceil(left / 1000)} s;`);
        await pause(Math.min(left, 1000), systemClock, interrupted);
      }
      if (interrupted.aborted)
        return { kind: 'interrupted', detail: 'interrupted while it waited: nothing was started' };
    }
  } finally {
    progress.end();
  }
}

/** Minutes and seconds, as `12:05`. */
function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

function readWait(
  wait: boolean | string | undefined,
): { readonly kind: 'wait'; readonly ms: number } | { readonly kind: 'problem'; readonly detail: string } {
  if (wait === undefined || wait === false) return { kind: 'wait', ms: 0 };
  if (wait === true) return { kind: 'wait', ms: Number.POSITIVE_INFINITY };
  if (/^\d{1,9}(\.\d{1,3})?$/.test(wait)) return { kind: 'wait', ms: Number(wait) * 1000 };
  return {
    kind: 'problem',
    detail: `--wait is ${JSON.stringify(wait)}: expected seconds, or no value to wait without end`,
  };
}

/** The text goes to the gate unchanged, which reports what is wrong in it; only invalid JSON is rejected here. */
async function readRequest(
  file: string,
): Promise<
  { readonly kind: 'request'; readonly text: string } | { readonly kind: 'problem'; readonly detail: string }
> {
  const name = file === '-' ? 'standard input' : file;
  try {
    const text = file === '-' ? await readAll(process.stdin) : await readFile(file, 'utf8');
    JSON.parse(text);
    return { kind: 'request', text };
  } catch (error) {
    const words = (error as Error).message;
    return {
      kind: 'problem',
      detail: error instanceof SyntaxError ? `${name}: expected JSON: ${words}` : `${name} cannot be read: ${words}`,
    };
  }
}
