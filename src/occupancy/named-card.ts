/** Which card a person or a container means by a uuid, a shortened uuid or an index. */

import type { CardIndex } from '../model/card.js';
import type { KnownCard } from './known-cards.js';

/** The card with this uuid, in any case of letters. */
export function cardWithUuid(cards: readonly KnownCard[], uuid: string): KnownCard | undefined {
  const wanted = uuid.toLowerCase();
  return cards.find((card) => card.uuid?.toLowerCase() === wanted);
}

/** The card that has this index today. */
export function cardWithIndex(cards: readonly KnownCard[], index: CardIndex | number): KnownCard | undefined {
  return cards.find((card) => card.index === index);
}

/**
 * The cards that an id names, as NVIDIA's container tools take ids: a uuid or the beginning of one (`GPU-8f33`), an index, or
 * a MIG id that says its card (`MIG-GPU-<uuid>/1/0`, `3:0`). Empty where it names none here, or a slice whose card it hides.
 */
export function cardsNamed(cards: readonly KnownCard[], id: string): readonly KnownCard[] {
  const index = /^(\d+)(?::\d+)?$/.exec(id)?.[1];
  if (index !== undefined) return cards.filter((card) => card.index === Number(index));
  const uuid = /^(?:mig-)?(gpu-[0-9a-f][0-9a-f-]*)(?:\/.*)?$/.exec(id.toLowerCase())?.[1];
  return uuid === undefined ? [] : cards.filter((card) => card.uuid?.toLowerCase().startsWith(uuid) === true);
}
