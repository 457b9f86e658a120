import { LABEL } from '../../../src/model/labels.js';
import type { Sent } from '../engine/client.js';
import { hasRun, type Ask, type Facts, type Maker } from './offences.js';

export interface CallRules {
  readonly now: () => number;
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
  else if (call.by === call.life.name) judgeRemoval(call, maker, facts, rules);
  return null;
}

function judgeCreate(call: Extract<Sent, { kind: 'create' }>, { asks, offend }: Facts): Ask | null {
  const run = call.body.Labels?.[LABEL.runId];
  const open = asks.filter(({ life, answer, post }) => life === call.life && answer === null && post.run === run);
  if (open.every(({ gone }) => gone)) offend('a container was created for nobody', `run ${run} by ${call.by}`);
  return open[0] ?? null;
}

function judgeStart({ id, by }: SentById, maker: Maker, { offend }: Facts): void {
  if (maker.by !== by) offend("another's container was started", `${id}, which ${maker.by} created, by ${by}`);
}

/** What a gate removes of itself: never a young claim of a gate that lives, and never what it was told had run. */
function judgeRemoval(
  { id, by, life }: SentById,
  maker: Maker,
  { told, offend }: Facts,
  { now, graceMs, redis, isAlive }: CallRules,
): void {
  const isYoung = now() - maker.at < graceMs;
  if (redis && maker.by !== by && isYoung && isAlive(maker.by)) {
    offend("a living gate's claim was removed", `${id}, which ${maker.by} created, by ${by}`);
  }
  const state = told.get(`${life.name} ${id}`);
  if (hasRun(state)) offend('what was known to have run was removed', `${id} (${state}) by ${by}`);
}
