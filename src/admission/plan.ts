/** Decides from one snapshot what to do with each request of a batch, in the order of the line. Pure: no clock, no I/O. */

import { cardsAt, walkLine, type LineRules, type Share } from '../line/walk.js';
import type { GrantedCard, JobSpec, Refusal, Wait } from '../model/admission.js';
import type { Place, Reservation, Wanted } from '../model/line.js';
import type { Occupancy } from '../model/occupancy.js';
import type { Placement } from '../model/placement.js';
import { refuse } from '../model/refuse.js';
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

/** A request, and what exists of its run. */
export interface Asked {
  readonly spec: JobSpec;
  readonly existing: Existing | null;
}

/**
 * One plan per request, in the order of `asked`. Cards are assigned by the line: `places` contains every waiting run,
 * including those of these requests. A request without a place comes after all that have one.
 */
export function planBatch(
  asked: readonly Asked[],
  places: readonly Place[],
  occupancy: Occupancy,
  rules: LineRules,
): readonly Plan[] {
  const line = lineOf(asked, places, occupancy);
  const { shares, reservation } = walkLine(line, occupancy, rules);
  return asked.map(({ spec, existing }) => {
    if (existing !== null) return { kind: 'existing', existing };
    return planOf(spec, shares.get(spec.runId), occupancy, reservation);
  });
}

/** Every run that wants a card of this look, longest wait first. A run with a live container no longer wants any. */
function lineOf(asked: readonly Asked[], places: readonly Place[], occupancy: Occupancy): readonly Wanted[] {
  const asks = new Map(asked.map((one) => [one.spec.runId, one]));
  const inLine = new Set(places.map(({ runId }) => runId));
  const waiting = places.filter(({ runId }) => {
    const one = asks.get(runId);
    return one === undefined ? !hasContainer(runId, occupancy) : one.existing === null;
  });
  const newcomers = asked.filter(({ spec, existing }) => existing === null && !inLine.has(spec.runId));
  return [
    ...waiting.map((place) => ({
      ...place,
      count: asks.get(place.runId)?.spec.count ?? place.count,
      asks: asks.has(place.runId),
      imageHere: place.imageHere || asks.has(place.runId),
    })),
    ...newcomers.map(({ spec: { runId, count } }) => ({ runId, count, waitedMs: 0, imageHere: true, asks: true })),
  ];
}

function hasContainer(runId: string, occupancy: Occupancy): boolean {
  return occupancy.cards.some((card) => card.claims.some((claim) => claim.runId === runId));
}

function planOf(spec: JobSpec, share: Share | undefined, occupancy: Occupancy, reservation: Reservation | null): Plan {
  if (share === undefined) return { kind: 'fault', error: new Error(`the line has no share for ${spec.runId}`) };
  switch (share.kind) {
    case 'gets':
      return { ...share, kind: 'create' };
    case 'never': {
      const { machine } = share;
      const detail = `count ${spec.count} is more than this machine has: ${machine} ${machine === 1 ? 'card' : 'cards'} that ${machine === 1 ? 'is' : 'are'} not excluded`;
      return refuse('unsatisfiable', { detail });
    }
    case 'waits':
      return {
        kind: 'wait',
        requested: spec.count,
        free: share.free,
        retryAfterSeconds: 5,
        explain: `${occupancy.explain}${aheadInWords(share, spec, reservation)}`,
        reasons: share.reasons,
      };
    case 'fault':
      return share;
    default:
      return share satisfies never;
  }
}

/** Explains what the look alone does not: free cards that go to other runs. */
function aheadInWords(
  { reasons }: Extract<Share, { kind: 'waits' }>,
  { runId }: JobSpec,
  reservation: Reservation | null,
): string {
  const ahead = reasons.find(({ code }) => code === 'ahead_in_line')?.cards.length ?? 0;
  const words = ahead === 0 ? '' : ` Of the free cards ${ahead} ${ahead === 1 ? 'goes' : 'go'} to runs ahead in line.`;
  if (reservation === null || reservation.cards.length === 0) return words;
  const { cards, count, waitedMs } = reservation;
  const kept = `${cards.length} free ${cards.length === 1 ? 'card is' : 'cards are'} kept`;
  const since = `waited ${Math.round(waitedMs / 60_000)} min for ${count}`;
  return reservation.runId === runId
    ? `${words} ${kept} for this run, which has ${since}.`
    : `${words} ${kept} for ${reservation.runId}, which has ${since}.`;
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
