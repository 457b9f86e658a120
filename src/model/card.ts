/**
 * The identifiers, states and findings of a card, in the terms of the answers and of the metrics' labels; this file imports
 * nothing.
 */

declare const brand: unique symbol;
type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** A card's identity for machines: `GPU-…`. Stable when cards are renumbered, unlike its index. */
export type CardUuid = Brand<string, 'CardUuid'>;

/** A card's number for people, as `nvidia-smi` numbers the cards today. Changes when a card falls off the bus. */
export type CardIndex = Brand<number, 'CardIndex'>;

export const cardUuid = (text: string): CardUuid => text as CardUuid;
export const cardIndex = (number: number): CardIndex => number as CardIndex;

/** Every state of a card. Each card is in exactly one; in order of precedence, first match wins. */
export const CARD_STATES = ['job_held', 'excluded', 'unhealthy', 'external', 'unknown', 'free'] as const;
export type CardState = (typeof CARD_STATES)[number];

/** Findings that exclude a card until the driver stops reporting them. */
export const HEALTH_REASONS = [
  'retired_pages_pending',
  'ecc_uncorrected',
  'hw_slowdown',
  'row_remap_failure',
  'recovery_action',
  'reset_required',
  'fabric',
  'driver_error',
  'missing',
  'xid',
] as const;
export type HealthReason = (typeof HEALTH_REASONS)[number];

/**
 * Findings that are shown but leave the card in use.
 * `row_remap_pending`: takes effect at the next reset, new work may run.
 * `process_list_blind`: memory is in use and the process list is empty, as in a container without the host's pid namespace.
 * `exclusive_process`: the compute mode lets one process at a time use the card.
 * `removal_stuck`: a job's container has been in `removing` for over an hour and the card shows no use, so it holds nothing.
 */
export const WARNING_REASONS = [
  'row_remap_pending',
  'process_list_blind',
  'exclusive_process',
  'removal_stuck',
] as const;
export type WarningReason = (typeof WARNING_REASONS)[number];

/** One fact about a card, worded for the person who has to act on it. */
export interface Finding<Reason extends string> {
  readonly reason: Reason;
  readonly detail: string;
}
