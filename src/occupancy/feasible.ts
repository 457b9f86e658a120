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

/** Cards of this look that other runs get, and the reason to give if this run would have needed them. */
export type Taken = ReadonlyMap<JudgedCard, 'job_held' | 'ahead_in_line' | 'reserved'>;

/**
 * Only cards with an index can be assigned. Where no card is known at all, the size of the machine is unknown, so any
 * request waits. An excluded card never counts, held or not: nobody gets it when it becomes free.
 */
export function whoCouldServe(
  occupancy: Occupancy,
  count: number,
  admitWhenBlind: boolean,
  taken: Taken = new Map(),
): Feasibility {
  const { cards } = occupancy;
  const left = cards.filter((card) => card.index !== null && !taken.has(card));
  const free = left.filter(({ state }) => state === 'free');
  if (count <= free.length) return { kind: 'fits', free, blind: [] };

  const blind = admitWhenBlind ? left.filter(isUnseen) : [];
  if (count <= free.length + blind.length) return { kind: 'fits', free, blind };

  const machine = cards.filter(({ excluded }) => excluded === null).length;
  if (cards.length > 0 && count > machine) return { kind: 'never', machine };
  const counted = new Set([...free, ...blind]);
  const inTheWay = cards.filter((card) => !counted.has(card));
  return { kind: 'not_now', free: counted.size, reasons: waitReasons(cards, inTheWay, taken) };
}

/**
 * Whether the run could be served once the jobs that hold cards now have ended: by cards that are free or held by jobs and
 * otherwise available. A job's use of its own card says nothing about outside use; a foreign container's does.
 */
export function couldServeLater(occupancy: Occupancy, count: number): boolean {
  return occupancy.cards.filter(comesFree).length >= count;
}

function comesFree(card: JudgedCard): boolean {
  if (card.index === null || card.excluded !== null || card.unhealthy.length > 0) return false;
  if (card.state === 'free') return true;
  return card.state === 'job_held' && card.unknownBecause === null && (card.external?.containers ?? []).length === 0;
}

function waitReasons(
  cards: readonly JudgedCard[],
  inTheWay: readonly JudgedCard[],
  taken: Taken,
): readonly WaitReason[] {
  if (cards.length === 0) return [{ code: 'probe_blind', cards: [] }];
  return REASON_ORDER.flatMap((code): WaitReason[] => {
    const speaksOf = inTheWay.filter((card) => (taken.get(card) ?? reasonCode(card)) === code);
    if (speaksOf.length === 0) return [];
    return [{ code, cards: speaksOf.flatMap(({ index }): CardIndex[] => (index === null ? [] : [index])) }];
  });
}

const REASON_ORDER = [
  'job_held',
  'reserved',
  'ahead_in_line',
  'external',
  'unhealthy',
  'excluded',
  'unknown',
  'probe_blind',
] as const;

function reasonCode(card: JudgedCard): WaitCode | null {
  if (card.state === 'free') return null;
  return isUnseen(card) ? 'probe_blind' : card.state;
}

/** Not seen because the driver was blind. If the containers were not seen either, a job may hold it. */
function isUnseen(card: JudgedCard): boolean {
  return card.state === 'unknown' && card.unknownBecause === 'blind';
}
