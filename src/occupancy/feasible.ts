/** Whether a request could be served now, later, or never on this machine. */

import type { WaitCode, WaitReason } from '../model/admission.js';
import type { CardIndex } from '../model/card.js';
import type { JudgedCard, Occupancy } from '../model/occupancy.js';

/** The cards to pick from, or why there are too few. */
export type Feasibility =
  /** `blind` cards count as free because the operator allowed it; empty where the free ones are enough. */
  | { readonly kind: 'fits'; readonly free: readonly JudgedCard[]; readonly blind: readonly JudgedCard[] }
  | { readonly kind: 'not_now'; readonly free: number; readonly reasons: readonly WaitReason[] }
  /** More than the machine has; `machine` counts the cards that are not excluded. */
  | { readonly kind: 'never'; readonly machine: number };

/**
 * Only cards with an index can be assigned. Where no card is known at all, the size of the machine is unknown, so any
 * request waits. An excluded card never counts, held or not: nobody gets it when it becomes free.
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

/** Not seen because the driver was blind. If the containers were not seen either, a job may hold it. */
function isUnseen(card: JudgedCard): boolean {
  return card.state === 'unknown' && card.unknownBecause === 'blind';
}
