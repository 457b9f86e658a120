/** The demonstration's own jobs, posted to the gate through its normal API. */

import { pause } from '../time/pause.js';
import { systemClock } from '../time/system-clock.js';
import type { Busy } from './demo-machine.js';

export interface DemoJobsParts {
  /** The gate's address, without a trailing slash. */
  readonly url: string;
  readonly token: string;
  /** Called with the jobs that keep their cards busy now. */
  readonly onBusy: (busy: readonly Busy[]) => void;
  /** Prints one line for the person who watches. */
  readonly say: (line: string) => void;
}

interface Job extends Busy {
  readonly startedAtMs: number;
  readonly seconds: number;
}

/** Number of cards and duration of each job, in a cycle. */
const PLAN = [
  { name: 'train', count: 2, seconds: 40 },
  { name: 'eval', count: 1, seconds: 18 },
  { name: 'tune', count: 1, seconds: 26 },
  { name: 'train', count: 1, seconds: 33 },
  { name: 'eval', count: 2, seconds: 14 },
] as const;
/** With the one of the idle run, leaves two of the six usable cards for the person who tries the gate. */
const MOST_CARDS = 3;
/** A run that holds a card all the time and puts nothing on it, to show what that looks like. */
const IDLE = { runId: 'notebook', seconds: 86_400 };
const EVERY_MS = 1000;
/** A real job frees its memory before it ends. */
const COOL_MS = 3000;
/** Every so many rounds, a request asks for more cards than are available. */
const TOO_LARGE_EVERY = 15;

/** Runs until the process ends. Ignores failures: the gate may be shutting down. */
export async function runDemoJobs(parts: DemoJobsParts): Promise<never> {
  let jobs: readonly Job[] = [];
  let posted = 0;
  await post(parts, IDLE.runId, 1, IDLE.seconds);
  for (let round = 0; ; round++) {
    const now = Date.now();
    const ended = jobs.filter((job) => now > job.startedAtMs + job.seconds * 1000 + EVERY_MS);
    jobs = jobs.filter((job) => !ended.includes(job));
    parts.onBusy(jobs.filter((job) => now < job.startedAtMs + job.seconds * 1000 - COOL_MS));
    for (const { runId } of ended) await ask(parts, 'DELETE', `/runs/${runId}`);

    const next = PLAN[posted % PLAN.length] ?? PLAN[0];
    const held = jobs.reduce((sum, { gpus }) => sum + gpus.length, 0);
    if (round % 3 === 0 && held + next.count <= MOST_CARDS) {
      posted++;
      const runId = `${next.name}-${posted}`;
      const gpus = await post(parts, runId, next.count, next.seconds);
      if (gpus !== null) jobs = [...jobs, { runId, gpus, startedAtMs: Date.now(), seconds: next.seconds }];
    }
    if (round % TOO_LARGE_EVERY === 5) await post(parts, 'large', 7, 60);
    await pause(EVERY_MS, systemClock);
  }
}

/** The cards of the job; null where the gate said `wait`. */
async function post(
  parts: DemoJobsParts,
  runId: string,
  count: number,
  seconds: number,
): Promise<readonly number[] | null> {
  const script = `echo "run $TUNEPLANE_RUN_ID on cards $CUDA_VISIBLE_DEVICES"; sleep ${seconds}; echo done`;
  const job = { run_id: runId, count, container: { command: ['sh', '-c', script] } };
  const said = await ask(parts, 'POST', '/admit', job);
  if (said === null) return null;
  const { decision, gpus, explain } = said;
  if (decision === 'admitted' && Array.isArray(gpus)) {
    parts.say(`${runId}: runs on ${gpus.length === 1 ? 'card' : 'cards'} ${gpus.join(', ')} for ${seconds} s`);
    return gpus.filter((index) => typeof index === 'number');
  }
  if (decision === 'wait') parts.say(`${runId}: asks for ${count} cards and is told to wait: ${String(explain)}`);
  return null;
}

async function ask(
  { url, token }: DemoJobsParts,
  method: string,
  path: string,
  body?: object,
): Promise<Readonly<Record<string, unknown>> | null> {
  try {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const said: unknown = answer.status === 204 ? null : await answer.json();
    return typeof said === 'object' ? (said as Readonly<Record<string, unknown>> | null) : null;
  } catch {
    return null;
  }
}
