/** Which card a person or a container means by a uuid, a shortened uuid or an index. */

import type { CardIndex, CardUuid } from './card.js';

/** What identifies the card; null where unknown. */
interface Named {
  readonly index: CardIndex | null;
  readonly uuid: CardUuid | null;
}

/** The card with this uuid; case is ignored. */
export function cardWithUuid<Card extends Named>(cards: readonly Card[], uuid: string): Card | undefined {
  const wanted = uuid.toLowerCase();
  return cards.find((card) => card.uuid?.toLowerCase() === wanted);
}

/** The card that has this index today. */
export function cardWithIndex<Card extends Named>(cards: readonly Card[], index: CardIndex | number): Card | undefined {
  return cards.find((card) => card.index === index);
}

/**
 * The cards that an id names, by the rules of NVIDIA's container tools: a uuid or the beginning of one (`GPU-8f33`), an
 * index, a MIG id that contains its card (`MIG-GPU-<uuid>/1/0`, `3:0`), or a device file (`/dev/nvidia3`) whose card is
 * otherwise unknown. Empty where it matches none here, or is a MIG id that does not contain its card.
 */
export function cardsNamed<Card extends Named>(cards: readonly Card[], id: string): readonly Card[] {
  const index = /^(?:\/dev\/nvidia)?(\d+)(?::\d+)?$/.exec(id)?.[1];
  if (index !== undefined) return cards.filter((card) => card.index === Number(index));
  const uuid = /^(?:mig-)?(gpu-[0-9a-f][0-9a-f-]*)(?:\/.*)?$/.exec(id.toLowerCase())?.[1];
  return uuid === undefined ? [] : cards.filter((card) => card.uuid?.toLowerCase().startsWith(uuid) === true);
}
