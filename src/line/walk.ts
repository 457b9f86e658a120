/** Who in line gets which cards out of one look. Pure: no clock, no I/O. */

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
  /** From this wait on cards are kept for the run that has waited longest; null: never. */
  readonly reserveAfterMs: number | null;
}

/** What one run in line gets out of a look. */
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
  /** One for each run of the line. */
  readonly shares: ReadonlyMap<string, Share>;
  readonly reservation: Reservation | null;
}

/**
 * Walks the line from the longest wait on. Each run that fits takes its cards out of what those before it left, whether it asks
 * now or is silent for a moment: nobody who comes later gets a card that an earlier place could use. A run that does not fit
 * takes nothing, so that smaller ones behind it go on; but one that has waited for `reserveAfterMs`, and that the cards that
 * will come free can serve, has every free card kept for it until its count is there. There is one such reservation at a time.
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

/** The cards of a look that a grant names: by uuid, and by index where none is known. */
export function cardsAt(occupancy: Occupancy, cards: readonly GrantedCard[]): readonly JudgedCard[] {
  return occupancy.cards.filter((judged) =>
    cards.some((card) => (card.uuid === null ? card.index === judged.index : card.uuid === judged.uuid)),
  );
}
