/** Which cards a container's labels claim; the only parser of these labels. */

import { cardIndex, cardUuid, type CardIndex, type CardUuid } from '../model/card.js';
import { LABEL } from '../model/labels.js';
import type { ClaimedCards, Pinned } from '../model/snapshot.js';

/** What a container's labels say, before its device request is known. */
export interface LabelledClaim {
  readonly cards: ClaimedCards;
  /** True where the device request matters: a claim by indices only, or one without a readable entry. */
  readonly needsInspect: boolean;
}

/**
 * The claim in a container's labels, or null. `tuneplane.gpu-uuids` takes precedence where any of it is readable; an empty
 * label is a claim on nothing. Whole numbers and uuids count; anything else goes to `unread` and is never guessed at.
 */
export function parseClaim(labels: Readonly<Record<string, string>>): LabelledClaim | null {
  const byUuid = labels[LABEL.gpuUuids];
  const byIndex = labels[LABEL.gpus];
  if (byUuid === undefined && byIndex === undefined) return null;
  const words = wordsIn(byUuid ?? '');
  const numbers = wordsIn(byIndex ?? '');
  const uuids = unique(words.filter(isUuid)).map(cardUuid);
  const strange = words.filter((word) => !isUuid(word));
  if (uuids.length > 0) {
    const beside = words.length === numbers.length && { indicesBeside: indicesAt(uuids, words, numbers) };
    return { cards: { uuids, indices: [], ...beside, unread: strange }, needsInspect: false };
  }
  const indices = unique(numbers.filter(isWhole).map(Number)).map(cardIndex);
  const unread = [...strange, ...numbers.filter((word) => !isWhole(word))];
  return { cards: { uuids: [], indices, unread }, needsInspect: indices.length > 0 || unread.length > 0 };
}

/**
 * The same claim, once the container's device request is known. Its uuids are held as well: an index moves when a card falls
 * off the bus, a uuid does not. Where no label was readable, the device request decides.
 */
export function withDeviceRequest(claim: LabelledClaim, given: Pinned): ClaimedCards {
  if (!claim.needsInspect || given.kind !== 'some') return claim.cards;
  const uuids: CardUuid[] = given.ids.filter(isUuid).map(cardUuid);
  const fromLabel = claim.cards.indices;
  const indices: readonly CardIndex[] =
    fromLabel.length > 0 ? fromLabel : given.ids.filter(isWhole).map((id) => cardIndex(Number(id)));
  return { uuids, indices, unread: claim.cards.unread };
}

/** The index at the position of each uuid; for a duplicate uuid, at its first. */
function indicesAt(
  uuids: readonly CardUuid[],
  words: readonly string[],
  numbers: readonly string[],
): readonly (CardIndex | null)[] {
  return uuids.map((uuid) => {
    const written = numbers[words.indexOf(uuid)] ?? '';
    return isWhole(written) ? cardIndex(Number(written)) : null;
  });
}

function wordsIn(label: string): readonly string[] {
  return label
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

function isUuid(word: string): boolean {
  return /^(?:GPU|MIG)-\S+$/i.test(word);
}

function isWhole(word: string): boolean {
  return /^\d+$/.test(word) && Number.isSafeInteger(Number(word));
}

function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
