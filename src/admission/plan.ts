/** Decides from one snapshot what to do with each request of a batch, in order of arrival. Pure: no clock, no I/O. */

import type { GrantedCard, JobSpec, Refusal, Wait } from '../model/admission.js';
import type { CardIndex } from '../model/card.js';
import type { JudgedCard, Occupancy } from '../model/occupancy.js';
import type { Placement } from '../model/placement.js';
import { refuse } from '../model/refuse.js';
import { whoCouldServe } from '../occupancy/feasible.js';
import { linksByIndex } from '../pick/islands.js';
import { pick } from '../pick/pick.js';
import type { Existing } from './existing/existing-meaning.js';

export type Plan =
  | {
      readonly kind: 'create';
      readonly cards: readonly GrantedCard[];
      readonly placement: Placement;
      readonly admittedBlind: boolean;
    }
  /** The run already has a container. */
  | { readonly kind: 'existing'; readonly existing: Existing }
  | ({ readonly kind: 'wait' } & Wait)
  | Refusal
  /** Planning this request threw: a bug of ours, which fails this request alone. */
  | { readonly kind: 'fault'; readonly error: unknown };

export interface PlanRules {
  readonly admitWhenBlind: boolean;
}

/** A request, and what exists of its run. */
export interface Asked {
  readonly spec: JobSpec;
  readonly existing: Existing | null;
}

/** One plan per request. A card given to an earlier request is not free for a later one. */
export function planBatch(asked: readonly Asked[], occupancy: Occupancy, rules: PlanRules): readonly Plan[] {
  const taken = new Set<JudgedCard>();
  return asked.map(({ spec, existing }) => {
    if (existing !== null) return { kind: 'existing', existing };
    const plan = planOne(spec, occupancy, taken, rules);
    if (plan.kind === 'create') for (const card of cardsAt(occupancy, plan.cards)) taken.add(card);
    return plan;
  });
}

function planOne(spec: JobSpec, occupancy: Occupancy, taken: ReadonlySet<JudgedCard>, rules: PlanRules): Plan {
  try {
    return pickCards(spec, occupancy, taken, rules);
  } catch (error) {
    return { kind: 'fault', error };
  }
}

function pickCards(spec: JobSpec, occupancy: Occupancy, taken: ReadonlySet<JudgedCard>, rules: PlanRules): Plan {
  const left = withTaken(occupancy, taken);
  const serve = whoCouldServe(left, spec.count, rules.admitWhenBlind);
  if (serve.kind === 'never') {
    return refuse('unsatisfiable', {
      detail: `count ${spec.count} is more than this machine has: ${serve.machine} ${serve.machine === 1 ? 'card' : 'cards'} that ${serve.machine === 1 ? 'is' : 'are'} not excluded`,
    });
  }
  if (serve.kind === 'not_now') return { kind: 'wait', ...waitFor(spec, left, serve, taken.size) };
  const blind = new Set<JudgedCard>(serve.blind);
  const candidates = [...serve.free, ...serve.blind].filter(
    (card): card is JudgedCard & { index: CardIndex } => card.index !== null,
  );
  const picked = pick(
    candidates.map((card) => card.index).toSorted((a, b) => a - b),
    spec.count,
    occupancy.links ? linksByIndex(occupancy.links, occupancy.cards) : null,
    new Map(candidates.map((card) => [card.index, card.failedStarts])),
  );
  if (picked === null) throw new Error(`${candidates.length} cards can serve ${spec.count}, and none were picked`);
  const cards = picked.indices.flatMap((index) => candidates.filter((card) => card.index === index));
  return {
    kind: 'create',
    cards: cards.map(({ index, uuid, name }) => ({ index, uuid, name })),
    placement: picked.placement,
    admittedBlind: cards.some((card) => blind.has(card)),
  };
}

/** The answer `wait`, with the reasons from this snapshot. */
function waitFor(
  spec: JobSpec,
  occupancy: Occupancy,
  serve: { readonly free: number; readonly reasons: Wait['reasons'] },
  taken: number,
): Wait {
  const since =
    taken === 0
      ? ''
      : ` Since that look ${taken} went to ${taken === 1 ? 'a request' : 'requests'} ahead in the queue.`;
  return {
    requested: spec.count,
    free: serve.free,
    retryAfterSeconds: 5,
    explain: `${occupancy.explain}${since}`,
    reasons: serve.reasons,
  };
}

/** Whether a list made after the create shows this container's claim on each of its cards. */
export function holdsAll(containerId: string, cards: readonly GrantedCard[], occupancy: Occupancy): boolean {
  const held = cardsAt(occupancy, cards).filter((card) =>
    card.claims.some((claim) => claim.containerId === containerId),
  );
  return held.length === cards.length;
}

/** Whether a list made after the create shows another live claim on any card of this container. */
export function hasRival(containerId: string, cards: readonly GrantedCard[], occupancy: Occupancy): boolean {
  return cardsAt(occupancy, cards).some((card) => card.claims.some((claim) => claim.containerId !== containerId));
}

function cardsAt(occupancy: Occupancy, cards: readonly GrantedCard[]): readonly JudgedCard[] {
  return occupancy.cards.filter((judged) =>
    cards.some((card) => (card.uuid === null ? card.index === judged.index : card.uuid === judged.uuid)),
  );
}

function withTaken(occupancy: Occupancy, taken: ReadonlySet<JudgedCard>): Occupancy {
  if (taken.size === 0) return occupancy;
  const cards = occupancy.cards.map((card) => (taken.has(card) ? { ...card, state: 'job_held' as const } : card));
  const free = occupancy.counts.free - [...taken].filter((card) => card.state === 'free').length;
  const held = occupancy.counts.job_held + taken.size;
  return { ...occupancy, cards, counts: { ...occupancy.counts, free, job_held: held } };
}
