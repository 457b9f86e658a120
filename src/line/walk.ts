/** Which runs in line get which cards of one look. Pure: no clock, no I/O. */

import type { GrantedCard, WaitReason } from '../model/admission.js';
import type { CardIndex } from '../model/card.js';
import type { Reservation, Wanted } from '../model/line.js';
import type { JudgedCard, Occupancy } from '../model/occupancy.js';
import type { Placement } from '../model/placement.js';
import { couldServeLater, whoCouldServe, type Feasibility, type Taken } from '../occupancy/feasible.js';
import { linksByIndex } from '../pick/islands.js';
import { pick } from '../pick/pick.js';

export interface LineRules {
  readonly admitWhenBlind: boolean;
  /** After this wait, cards are reserved for the run that has waited longest; null: never. */
  readonly reserveAfterMs: number | null;
}

/** What one run in line gets from a look. */
export type Share =
  | {
      readonly kind: 'gets';
      readonly cards: readonly GrantedCard[];
      readonly placement: Placement;
      readonly admittedBlind: boolean;
    }
  | { readonly kind: 'waits'; readonly free: number; readonly reasons: readonly WaitReason[] }
  /** More cards than the machine has. */
  | { readonly kind: 'never'; readonly machine: number }
  /** Deciding about this run threw: a bug of ours, which fails this run alone. */
  | { readonly kind: 'fault'; readonly error: unknown };

export interface Walked {
  /** One per run of the line. */
  readonly shares: ReadonlyMap<string, Share>;
  readonly reservation: Reservation | null;
}

/**
 * Goes through the line, longest wait first. Each run that fits takes its cards from what the runs before it left, whether
 * it has a request now or not: no later run gets a card that an earlier place could use. A run that does not fit takes
 * nothing, so that smaller ones behind it proceed. But if it has waited for `reserveAfterMs`, and the cards that will become
 * free can serve it, every free card is reserved for it until there are enough. Only one such reservation exists at a time.
 */
export function walkLine(line: readonly Wanted[], occupancy: Occupancy, rules: LineRules): Walked {
  const taken = new Map<JudgedCard, 'job_held' | 'ahead_in_line' | 'reserved'>();
  const shares = new Map<string, Share>();
  let reservation: Reservation | null = null;
  for (const wanted of line) {
    const share = shareOf(wanted, occupancy, taken, rules);
    shares.set(wanted.runId, share);
    if (share.kind === 'gets') {
      for (const card of cardsAt(occupancy, share.cards)) taken.set(card, wanted.asks ? 'job_held' : 'ahead_in_line');
    } else if (share.kind === 'waits' && reservation === null && isOverdue(wanted, occupancy, rules)) {
      const kept = occupancy.cards.filter((card) => card.state === 'free' && card.index !== null && !taken.has(card));
      for (const card of kept) taken.set(card, 'reserved');
      const { runId, count, waitedMs } = wanted;
      reservation = { runId, count, waitedMs, cards: kept.map(({ index, uuid }) => ({ index, uuid })) };
    }
  }
  return { shares, reservation };
}

function isOverdue(wanted: Wanted, occupancy: Occupancy, { reserveAfterMs }: LineRules): boolean {
  if (reserveAfterMs === null || wanted.waitedMs < reserveAfterMs || !wanted.imageHere) return false;
  return couldServeLater(occupancy, wanted.count);
}

function shareOf(wanted: Wanted, occupancy: Occupancy, taken: Taken, rules: LineRules): Share {
  if (!wanted.imageHere) return { kind: 'waits', free: 0, reasons: [{ code: 'image_pulling', cards: [] }] };
  try {
    const serve = whoCouldServe(occupancy, wanted.count, rules.admitWhenBlind, taken);
    if (serve.kind === 'never') return serve;
    if (serve.kind === 'not_now') return { ...serve, kind: 'waits' };
    return { kind: 'gets', ...pickOf(serve, wanted.count, occupancy) };
  } catch (error) {
    return { kind: 'fault', error };
  }
}

function pickOf(
  serve: Extract<Feasibility, { kind: 'fits' }>,
  count: number,
  occupancy: Occupancy,
): Omit<Extract<Share, { kind: 'gets' }>, 'kind'> {
  const blind = new Set<JudgedCard>(serve.blind);
  const candidates = [...serve.free, ...serve.blind].filter(
    (card): card is JudgedCard & { index: CardIndex } => card.index !== null,
  );
  const picked = pick(
    candidates.map((card) => card.index).toSorted((a, b) => a - b),
    count,
    occupancy.links ? linksByIndex(occupancy.links, occupancy.cards) : null,
    new Map(candidates.map((card) => [card.index, card.failedStarts])),
  );
  if (picked === null) throw new Error(`${candidates.length} cards can serve ${count}, and none were picked`);
  const cards = picked.indices.flatMap((index) => candidates.filter((card) => card.index === index));
  return {
    cards: cards.map(({ index, uuid, name }) => ({ index, uuid, name })),
    placement: picked.placement,
    admittedBlind: cards.some((card) => blind.has(card)),
  };
}

/** The cards of a look that a grant names: by uuid, or by index where no uuid is known. */
export function cardsAt(occupancy: Occupancy, cards: readonly GrantedCard[]): readonly JudgedCard[] {
  return occupancy.cards.filter((judged) =>
    cards.some((card) => (card.uuid === null ? card.index === judged.index : card.uuid === judged.uuid)),
  );
}
