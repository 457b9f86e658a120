/**
 * Which cards there are: those the driver lists, those it reports as broken, and those that should exist and do not appear.
 */

import { cardIndex, type CardIndex, type CardUuid } from '../model/card.js';
import type { BrokenCard, GpuRow, GpusSeen, Probed, RememberedCard } from '../model/snapshot.js';

/** How a known card appears in this look. */
export type Evidence =
  | { readonly kind: 'row'; readonly row: GpuRow }
  | { readonly kind: 'broken'; readonly broken: BrokenCard }
  /** The look was good and did not show the card. */
  | { readonly kind: 'missing'; readonly detail: string }
  /** The look was blind. */
  | { readonly kind: 'unseen' };

/** A card that is known to be part of the machine, even if little or nothing of it is visible. */
export interface KnownCard {
  readonly index: CardIndex | null;
  readonly uuid: CardUuid | null;
  readonly name: string | null;
  readonly pciBusId: string | null;
  readonly evidence: Evidence;
}

/**
 * Every card of the machine, in order of index, those without one last. A blind look uses the cards seen before and those
 * configured. If the configured count is higher, placeholders with `uuid` null fill the lowest open indices.
 */
export function knownCards(
  gpus: Probed<GpusSeen>,
  remembered: readonly RememberedCard[],
  configuredCount: number,
): readonly KnownCard[] {
  const named = gpus.kind === 'seen' ? ofAGoodLook(gpus.value, remembered) : ofABlindLook(remembered);
  const driverCount = (gpus.kind === 'seen' ? gpus.value.driverCount : null) ?? 0;
  const count = Math.max(configuredCount, driverCount);
  const evidence: Evidence =
    gpus.kind === 'blind'
      ? { kind: 'unseen' }
      : { kind: 'missing', detail: shortfall(configuredCount, driverCount, gpus.value) };
  return [...named, ...standIns(named, count, evidence)].toSorted(byIndex);
}

/** One placeholder for each card by which `count` exceeds the known ones, at the lowest open index below it. */
function standIns(named: readonly KnownCard[], count: number, evidence: Evidence): readonly KnownCard[] {
  const taken = takenPlaces(named);
  const open = Array.from({ length: count }, (_, place) => cardIndex(place)).filter((place) => !taken.has(place));
  return Array.from({ length: Math.max(0, count - named.length) }, (_, nth) => ({
    index: open[nth] ?? null,
    uuid: null,
    name: null,
    pciBusId: null,
    evidence,
  }));
}

function ofABlindLook(remembered: readonly RememberedCard[]): KnownCard[] {
  const taken = new Set<number>();
  return remembered.map((card) => asRemembered(card, claimPlace(taken, card.index), { kind: 'unseen' }));
}

function ofAGoodLook(seen: GpusSeen, remembered: readonly RememberedCard[]): KnownCard[] {
  const shownUuids = new Set(seen.rows.map((row) => row.uuid).filter((uuid) => uuid !== null));
  // Cards the driver did not name in this look: a row or complaint without a uuid may be one of them.
  const unaccounted = remembered.filter((card) => !shownUuids.has(card.uuid));

  const rows = seen.rows.map((row) =>
    ofRow(row, row.uuid === null ? takeOut(unaccounted, row) : remembered.find((card) => card.uuid === row.uuid)),
  );
  const taken = takenPlaces(rows);
  const broken = seen.broken.map((complaint) => ofComplaint(complaint, takeOut(unaccounted, complaint), taken));
  const missing = unaccounted.map((card) => {
    const detail = `the driver does not list it any more; it was card ${card.index} at ${card.pciBusId}`;
    return asRemembered(card, claimPlace(taken, card.index), { kind: 'missing', detail });
  });
  return [...rows, ...broken, ...missing];
}

function ofRow(row: GpuRow, before: RememberedCard | undefined): KnownCard {
  return {
    index: row.index,
    uuid: row.uuid ?? before?.uuid ?? null,
    name: row.name ?? before?.name ?? null,
    pciBusId: row.pciBusId ?? before?.pciBusId ?? null,
    evidence: { kind: 'row', row },
  };
}

function ofComplaint(broken: BrokenCard, before: RememberedCard | undefined, taken: Set<number>): KnownCard {
  return {
    index: claimPlace(taken, broken.index ?? before?.index ?? null),
    uuid: before?.uuid ?? null,
    name: before?.name ?? null,
    pciBusId: broken.pciBusId ?? before?.pciBusId ?? null,
    evidence: { kind: 'broken', broken },
  };
}

function asRemembered(card: RememberedCard, index: CardIndex | null, evidence: Evidence): KnownCard {
  return { index, uuid: card.uuid, name: card.name, pciBusId: card.pciBusId, evidence };
}

/**
 * Removes from the list the remembered card that a row without a uuid must be: the one at its bus address or, where it shows
 * none, the one with its index. If there is none, the row is a card that was never identified.
 */
function takeOut(
  unaccounted: RememberedCard[],
  nameless: { readonly index: CardIndex | null; readonly pciBusId: string | null },
): RememberedCard | undefined {
  const { index, pciBusId } = nameless;
  const at = unaccounted.findIndex((card) =>
    pciBusId === null ? card.index === index : sameBusAddress(card.pciBusId, pciBusId),
  );
  return at === -1 ? undefined : unaccounted.splice(at, 1)[0];
}

/** The driver writes the domain with 8 digits in rows and with 4 in complaints, and either case. */
export function sameBusAddress(one: string, other: string): boolean {
  return plainAddress(one) === plainAddress(other);
}

function plainAddress(pciBusId: string): string {
  return pciBusId.toLowerCase().replace(/^(?:gpu)?\s*0*/, '');
}

function shortfall(configuredCount: number, driverCount: number, seen: GpusSeen): string {
  const shown = seen.rows.length + seen.broken.length;
  return driverCount >= configuredCount
    ? `the driver counts ${driverCount} cards and shows ${shown}`
    : `${configuredCount} cards are configured and the driver shows ${shown}`;
}

function takenPlaces(cards: readonly KnownCard[]): Set<number> {
  return new Set(cards.map((card) => card.index).filter((index) => index !== null));
}

/** The wanted index, unless another card has it now: no two cards may share an index. */
function claimPlace(taken: Set<number>, wanted: CardIndex | null): CardIndex | null {
  if (wanted === null || taken.has(wanted)) return null;
  taken.add(wanted);
  return wanted;
}

function byIndex(one: KnownCard, other: KnownCard): number {
  return (
    (one.index ?? Number.MAX_SAFE_INTEGER) - (other.index ?? Number.MAX_SAFE_INTEGER) ||
    (one.uuid ?? '').localeCompare(other.uuid ?? '')
  );
}
