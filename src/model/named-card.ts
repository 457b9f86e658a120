/** Which card a person or a container means by a uuid, a shortened uuid or an index. */

import type { CardIndex, CardUuid } from './card.js';

/** What tells a card from the others; null where nobody knows it now. */
interface Named {
  readonly index: CardIndex | null;
  readonly uuid: CardUuid | null;
}

/** The card with this uuid, in any case of letters. */
export function cardWithUuid<Card extends Named>(cards: readonly Card[], uuid: string): Card | undefined {
  const wanted = uuid.toLowerCase();
  return cards.find((card) => card.uuid?.toLowerCase() === wanted);
}

/** The card that has this index today. */
export function cardWithIndex<Card extends Named>(cards: readonly Card[], index: CardIndex | number): Card | undefined {
  return cards.find((card) => card.index === index);
}

/**
 * The cards that an id names, as NVIDIA's container tools take ids: a uuid or the beginning of one (`GPU-8f33`), an index, or
 * a MIG id that says its card (`MIG-GPU-<uuid>/1/0`, `3:0`). Empty where it names none here, or a slice whose card it hides.
 */
export function cardsNamed<Card extends Named>(cards: readonly Card[], id: string): readonly Card[] {
  const index = /^(\d+)(?::\d+)?$/.exec(id)?.[1];
  if (index !== undefined) return cards.filter((card) => card.index === Number(index));
  const uuid = /^(?:mig-)?(gpu-[0-9a-f][0-9a-f-]*)(?:\/.*)?$/.exec(id.toLowerCase())?.[1];
  return uuid === undefined ? [] : cards.filter((card) => card.uuid?.toLowerCase().startsWith(uuid) === true);
}
