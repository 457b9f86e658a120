/** Which cards a query is about, and whether their handles work. */

import type { Dialect } from './machine/dialect.js';
import { DRIVER_ERRORS } from './machine/driver-errors.js';
import type { Card, Machine } from './machine/machine.js';
import { type Output, sentence } from './output.js';

/** A card with its index as the driver counts today, and its position in the machine's list. */
export interface Numbered {
  card: Card;
  index: number;
  place: number;
}

/** The cards on the bus, in order. Those gone from it have no index, and later ones move up. */
export function onBus(machine: Machine): Numbered[] {
  return machine.cards
    .map((card, place) => ({ card, place }))
    .filter(({ card }) => card.fault?.kind !== 'gone')
    .map(({ card, place }, index) => ({ card, index, place }));
}

/**
 * The cards that a query is about, or why it fails as a whole: one card without a handle is enough. Given only indices, no
 * other card is touched. Given anything else (a UUID, an unknown index), all cards are scanned.
 * no other card is touched. Given anything else (a UUID, an index that is not there), all cards are looked through.
 */
export function chosenCards(
  machine: Machine,
  dialect: Dialect,
  ids: readonly string[] | null,
): readonly Numbered[] | Output {
  const cards = onBus(machine);
  const byIndex = ids?.every((id) => cards.some(({ index }) => String(index) === id)) ?? false;
  const touched = byIndex ? cards.filter(({ index }) => ids?.includes(String(index))) : cards;
  const broken = touched.find((each) => hasNoHandle(each.card) && !isLeftOut(each.card, dialect));
  if (broken !== undefined) return ids === null || byIndex ? noHandle(broken.card, dialect) : problem(broken.card);
  const asked = touched.filter(({ card, index }) => ids === null || ids.some((id) => isMeant(id, card, index)));
  const answering = asked.filter(({ card }) => !hasNoHandle(card));
  return answering.length > 0 ? answering : nothing(asked);
}

/** The error of a card's handle, as in `gpu 0000:4E:00.0: GPU is lost`; null if it works. */
export function handleError(card: Card): (typeof DRIVER_ERRORS)[keyof typeof DRIVER_ERRORS] | null {
  return card.fault?.kind === 'handle' ? DRIVER_ERRORS[card.fault.error] : null;
}

/** Messages give the bus id's domain with four digits, columns with eight. */
export function shortBusId(card: Card): string {
  return card.bus_id.slice(4);
}

function hasNoHandle(card: Card): boolean {
  return handleError(card) !== null;
}

/** On two errors the program leaves out the card silently. */
function isLeftOut({ fault }: Card, { branch }: Dialect): boolean {
  if (fault?.kind !== 'handle') return false;
  return fault.error === 'no_permission' || (fault.error === 'not_found' && branch >= 535);
}

function isMeant(id: string, card: Card, index: number): boolean {
  return [String(index), card.uuid, card.serial, card.bus_id, shortBusId(card)].includes(id);
}

function noHandle(card: Card, { beforeBusId }: Dialect): Output {
  const error = handleError(card) ?? DRIVER_ERRORS.unknown;
  return sentence(
    `Unable to determine the device handle for GPU${beforeBusId}${shortBusId(card)}: ${error.sentence}\n`,
    error.rc,
  );
}

function problem(card: Card): Output {
  return sentence(`Problem with GPU ${shortBusId(card)}: ${handleError(card)?.sentence}\n`, 255);
}

function nothing(asked: readonly Numbered[]): Output {
  const locked = asked.some(({ card }) => card.fault?.kind === 'handle' && card.fault.error === 'no_permission');
  const hint = locked ? '. Please make sure /dev/nvidia* files are readable by current user.' : '';
  return sentence(`No devices were found${hint}\n`, locked ? 4 : 6);
}
