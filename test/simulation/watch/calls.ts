import { LABEL } from '../../../src/model/labels.js';
import type { Sent, ToldState } from '../engine/client.js';
import { hasRun, type Ask, type Facts, type Maker } from './offences.js';

export interface CallRules {
  readonly now: () => number;
  /** Counts the steps of the history: what happens in one step is one turn of one process. */
  readonly step: () => number;
  /** How long another's claim is let alone. */
  readonly graceMs: number;
  /** Without Redis there is one gate at a time, and whatever another life made is left over. */
  readonly redis: boolean;
  readonly isAlive: (life: string) => boolean;
}

type SentById = Exclude<Sent, { kind: 'create' }>;

/** Judges a call as it is sent. For a create: the request that it is for. */
export function judgeCall(call: Sent, facts: Facts, rules: CallRules): Ask | null {
  if (call.kind === 'create') return judgeCreate(call, facts);
  const maker = facts.makers.get(call.id);
  if (maker === undefined) return null;
  if (call.kind === 'start') judgeStart(call, maker, facts);
  // A DELETE is somebody's wish.
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

/** What somebody removes already is asked for again until it is gone. */
function isGoing(state: ToldState | undefined): boolean {
  return state === 'removing' || state === 'removed';
}

/** What a gate removes of itself: what it has just seen created, and never a young claim of a gate that lives. */
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
