/** `gpu-gate run`: takes a place in line, runs a job on free cards, shows its output, and ends as the job did. */

import { randomBytes } from 'node:crypto';
import { userInfo } from 'node:os';
import { pipeline } from 'node:stream/promises';
import type { Gate, GateOptions } from './client/ask-gate.js';
import { outcomeOf } from './client/decision-words.js';
import { reachGate } from './client/reach-gate.js';
import { untilRunEnded } from './client/run-ended.js';
import { runRequest, type RunFlags } from './client/run-request.js';
import { EXIT } from './terminal/exit-codes.js';
import { createProgress } from './terminal/progress.js';
import { complain, say } from './terminal/say.js';
import { twoSignals, type TwoSignals } from './terminal/two-signals.js';

export interface RunOptions extends GateOptions, RunFlags {
  readonly detach?: boolean;
}

/** How long one request is held by the gate; then it is asked anew. */
const HOLD_S = 60;
/** The gate answers within the hold, the pull and its own limits. */
const ANSWER_MS = 10 * 60_000;
const GRACE_S = 10;

/** The exit code is the job's own; with `--detach`, and where there is no job, one of `EXIT`. */
export async function run(image: string, command: readonly string[], options: RunOptions): Promise<void> {
  const gate = reachGate(options);
  if (gate === null) return;
  const request = runRequest(image, command, options, {
    user: userInfo().username,
    letters: randomBytes(3).toString('hex'),
    variable: (name) => process.env[name],
  });
  if (request.kind === 'problem') {
    complain(...request.details);
    process.exitCode = EXIT.usage;
    return;
  }
  const { runId, body } = request;
  const signals = twoSignals();
  try {
    const started = await untilStarted(gate, runId, body, signals);
    if (started === null) return;
    if (options.detach === true) return say(runId);
    stopAtFirst(gate, runId, signals.first);
    if (started === 'runs') await showOutput(gate, runId, signals.second);
    await endAsTheJob(gate, runId, signals.second);
  } finally {
    signals.forget();
  }
}

/** Null where there is nothing to show: the exit code is set. `ended`: the run had ended before it was asked for. */
async function untilStarted(
  gate: Gate,
  runId: string,
  body: string,
  signals: TwoSignals,
): Promise<'runs' | 'ended' | null> {
  const progress = createProgress(process.stderr, () => performance.now());
  const headers = { prefer: `wait=${HOLD_S}` };
  try {
    for (let answered = false; ;) {
      const askedAt = performance.now();
      const said = await gate.ask('/admit', {
        method: 'POST',
        body,
        headers,
        limitMs: ANSWER_MS,
        signal: signals.first,
      });
      if (signals.first.aborted) return await leave(gate, runId);
      const { lines, exit, againInS } = outcomeOf(said);
      if (exit === EXIT.done || exit === EXIT.ended) return exit === EXIT.done ? 'runs' : 'ended';
      answered ||= said.kind === 'answered';
      if (againInS === null || !answered) {
        complain(...lines);
        process.exitCode = exit;
        return null;
      }
      progress.show(`${runId}: ${lines.map((line) => line.trim()).join('; ')}`, '');
      // A request that was held for long enough is asked again at once; a gate need not hold it.
      await signals.pause(againInS * 1000 - (performance.now() - askedAt));
    }
  } finally {
    progress.end();
  }
}

/** Ctrl-C before the job began: it leaves the line, or is stopped if it began meanwhile. */
async function leave(gate: Gate, runId: string): Promise<null> {
  const isStopped = await stop(gate, runId);
  if (isStopped) complain(`${runId}: stopped before it began`);
  else complain(`${runId}: nobody knows whether it was stopped; gpu-gate stop ${runId} tries again`);
  process.exitCode = EXIT.interrupted;
  return null;
}

/** The first Ctrl-C stops the job, whose last words are still shown. */
function stopAtFirst(gate: Gate, runId: string, first: AbortSignal): void {
  const stopNow = (): void => {
    complain(`${runId}: stopping it; Ctrl-C once more to leave it to itself`);
    void stopOrSay(gate, runId);
  };
  if (first.aborted) stopNow();
  else first.addEventListener('abort', stopNow, { once: true });
}

/** Until the run has ended or a second Ctrl-C. */
async function showOutput(gate: Gate, runId: string, second: AbortSignal): Promise<void> {
  try {
    const said = await gate.open(`/runs/${encodeURIComponent(runId)}/logs?follow=true`, second);
    if (said.kind === 'stream') await pipeline(said.stream, process.stdout, { end: false });
    else complain(`the output of ${runId} cannot be shown; gpu-gate logs -f ${runId} tries again`);
  } catch {
    if (!second.aborted) complain(`the output of ${runId} broke off; gpu-gate logs -f ${runId} shows it again`);
  }
}

async function endAsTheJob(gate: Gate, runId: string, second: AbortSignal): Promise<void> {
  const ended = await untilRunEnded(gate, runId, second);
  if (ended === null && !second.aborted) {
    complain(`${runId} is gone: somebody removed it, or this token may not see it`);
    process.exitCode = EXIT.undecided;
    return;
  }
  if (ended === null) {
    complain(
      `${runId} goes on by itself`,
      `  gpu-gate logs -f ${runId} shows its output, gpu-gate wait ${runId} waits for its end, gpu-gate stop ${runId} ends it`,
    );
    process.exitCode = EXIT.interrupted;
    return;
  }
  if (ended.error !== null) complain(`${runId}: ${ended.error}`);
  process.exitCode = ended.exitCode ?? EXIT.undecided;
}

async function stopOrSay(gate: Gate, runId: string): Promise<void> {
  if (await stop(gate, runId)) return;
  complain(`${runId} could not be stopped; gpu-gate stop ${runId} tries again`);
}

/** Whether the gate said that it is stopped, or that there is nothing to stop. */
async function stop(gate: Gate, runId: string): Promise<boolean> {
  const body = JSON.stringify({ grace_seconds: GRACE_S });
  const said = await gate.ask(`/runs/${encodeURIComponent(runId)}/stop`, { method: 'POST', body, limitMs: 60_000 });
  return said.kind === 'answered' && (said.status < 300 || said.status === 404);
}
