/** Whether a request could be served now, later, or never on this machine. */

import type { WaitCode, WaitReason } from '../model/admission.js';
import type { CardIndex } from '../model/card.js';
import type { JudgedCard, Occupancy } from '../model/occupancy.js';

/** The cards a pick may choose from, or why there are too few. */
export type Feasibility =
  /** `blind` cards count as free because the operator said so; empty where the free ones are enough. */
  | { readonly kind: 'fits'; readonly free: readonly JudgedCard[]; readonly blind: readonly JudgedCard[] }
  | { readonly kind: 'not_now'; readonly free: number; readonly reasons: readonly WaitReason[] }
  /** More than the machine has; `machine` counts the cards that are not taken out on purpose. */
  | { readonly kind: 'never'; readonly machine: number };

/**
 * Only cards with an index can be handed out. Where no card is known at all, nothing says how many the machine has, so any
 * request waits. A card with an exclusion counts for nothing, held or not: when it comes free nobody gets it.
 */
export function whoCouldServe(occupancy: Occupancy, count: number, admitWhenBlind: boolean): Feasibility {
  const { cards } = occupancy;
  const free = cards.filter(({ state, index }) => state === 'free' && index !== null);
  if (count <= free.length) return { kind: 'fits', free, blind: [] };

  const blind = admitWhenBlind ? cards.filter((card) => isUnseen(card) && card.index !== null) : [];
  if (count <= free.length + blind.length) return { kind: 'fits', free, blind };

  const machine = cards.filter(({ excluded }) => excluded === null).length;
  if (cards.length > 0 && count > machine) return { kind: 'never', machine };
  return { kind: 'not_now', free: free.length + blind.length, reasons: waitReasons(cards, blind) };
}

function waitReasons(cards: readonly JudgedCard[], counted: readonly JudgedCard[]): readonly WaitReason[] {
  if (cards.length === 0) return [{ code: 'probe_blind', cards: [] }];
  const inTheWay = cards.filter((card) => card.state !== 'free' && !counted.includes(card));
  return REASON_ORDER.flatMap((code): WaitReason[] => {
    const speaksOf = inTheWay.filter((card) => reasonCode(card) === code);
    if (speaksOf.length === 0) return [];
    return [{ code, cards: speaksOf.flatMap(({ index }): CardIndex[] => (index === null ? [] : [index])) }];
  });
}

const REASON_ORDER = ['job_held', 'external', 'unhealthy', 'excluded', 'unknown', 'probe_blind'] as const;

function reasonCode(card: JudgedCard): WaitCode | null {
  if (card.state === 'free') return null;
  return isUnseen(card) ? 'probe_blind' : card.state;
}

/** Not seen because the driver was blind. Where the containers were not seen either, nobody knows whether a job holds it. */
function isUnseen(card: JudgedCard): boolean {
  return card.state === 'unknown' && card.unknownBecause === 'blind';
}
