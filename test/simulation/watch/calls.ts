import { LABEL } from '../../../src/model/labels.js';
import type { Sent, ToldState } from '../engine/client.js';
import { hasRun, type Ask, type Facts, type Maker } from './offences.js';

export interface CallRules {
  readonly now: () => number;
  /** Counts the steps of the history: one step is one turn of one process. */
  readonly step: () => number;
  /** How long another gate's claim is left alone. */
  readonly graceMs: number;
  /** Without Redis there is one gate at a time, and every container of another life is a left-over. */
  readonly redis: boolean;
  readonly isAlive: (life: string) => boolean;
}

type SentById = Exclude<Sent, { kind: 'create' }>;

/** Judges a call when it is sent. For a create: its request. */
export function judgeCall(call: Sent, facts: Facts, rules: CallRules): Ask | null {
  if (call.kind === 'create') return judgeCreate(call, facts);
  const maker = facts.makers.get(call.id);
  if (maker === undefined) return null;
  if (call.kind === 'start') judgeStart(call, maker, facts);
  // A DELETE is a caller's request.
  else if (call.by === call.life.name) judgeRemoval(call, maker, facts, rules);
  return null;
}

function judgeCreate(call: Extract<Sent, { kind: 'create' }>, { asks, removedRuns, offend }: Facts): Ask | null {
  const run = call.body.Labels?.[LABEL.runId];
  if (removedRuns.has(`${call.by} ${run}`)) {
    offend('what its events told had run was created again', `run ${run} by ${call.by}`);
  }
  const open = asks.filter(({ life, answer, post }) => life === call.life && answer === null && post.run === run);
  if (open.every(({ gone }) => gone)) offend('a container was created for nobody', `run ${run} by ${call.by}`);
  return open[0] ?? null;
}

function judgeStart({ id, by }: SentById, maker: Maker, { told, offend }: Facts): void {
  if (maker.by !== by) offend("another's container was started", `${id}, which ${maker.by} created, by ${by}`);
  const state = told.get(`${by} ${id}`)?.state;
  if (hasRun(state)) offend('what was known to have run was started', `${id} (${state}) by ${by}`);
}

/** A removal that another caller has begun is repeated until the container is gone. */
function isGoing(state: ToldState | undefined): boolean {
  return state === 'removing' || state === 'removed';
}

/** A gate's own removals: only what it has just seen `created`, and never a young claim of a live gate. */
function judgeRemoval(
  { id, by }: SentById,
  maker: Maker,
  { told, offend }: Facts,
  { now, step, graceMs, redis, isAlive }: CallRules,
): void {
  const isYoung = now() - maker.at < graceMs;
  if (redis && maker.by !== by && isYoung && isAlive(maker.by)) {
    offend("a living gate's claim was removed", `${id}, which ${maker.by} created, by ${by}`);
  }
  const last = told.get(`${by} ${id}`);
  if (hasRun(last?.state)) offend('what was known to have run was removed', `${id} (${last?.state}) by ${by}`);
  else if (last?.step !== step() && !isGoing(last?.state)) {
    offend('a removal without a look right before it', `${id} by ${by}`);
  }
}
