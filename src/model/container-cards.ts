/** Which cards a container has, for an answer: the cards of its claim, matched with the cards seen before. */

import type { GrantedCard } from './admission.js';
import type { CardIndex, CardUuid } from './card.js';
import { cardsNamed, cardWithIndex } from './named-card.js';
import type { RememberedCard, SeenContainer } from './snapshot.js';

/**
 * The cards of a container's claim, each once: those that the judge counts as held. The index is the one beside the uuid in
 * the labels, else the card's current one. A name that matches no remembered card is returned as written, unless the claim
 * has the card under its other name too: an older agent's label names it by index, and the device request by uuid.
 */
export function cardsOf(container: SeenContainer, remembered: readonly RememberedCard[]): readonly GrantedCard[] {
  const { uuids = [], indices = [], indicesBeside } = container.claim ?? {};
  const byUuids = uuids.flatMap((uuid, at) => withUuid(uuid, indicesBeside?.[at] ?? null, remembered));
  const byIndices = indices.map((index) => withIndex(index, remembered));
  const cards = eachOnce([...byUuids, ...byIndices]);
  if (uuids.length === 0 || indices.length === 0) return cards;
  const here = cards.filter(({ name }) => name !== null);
  return here.length > 0 ? here : byIndices;
}

function withUuid(
  uuid: CardUuid,
  beside: CardIndex | null,
  remembered: readonly RememberedCard[],
): readonly GrantedCard[] {
  const named = cardsNamed(remembered, uuid);
  if (named.length === 0) return [{ index: beside, uuid, name: null }];
  // If it matches several cards, the index beside it belongs to one of them, and which one is unknown.
  return named.map((card) => ({
    index: (named.length === 1 ? beside : null) ?? card.index,
    uuid: card.uuid,
    name: card.name,
  }));
}

function withIndex(index: CardIndex, remembered: readonly RememberedCard[]): GrantedCard {
  const card = cardWithIndex(remembered, index);
  return { index, uuid: card?.uuid ?? null, name: card?.name ?? null };
}

function eachOnce(cards: readonly GrantedCard[]): readonly GrantedCard[] {
  return cards.filter((card, at) => cards.findIndex((other) => isSame(other, card)) === at);
}

function isSame(one: GrantedCard, other: GrantedCard): boolean {
  if (one.uuid === null && other.uuid === null) return one.index === other.index;
  return one.uuid?.toLowerCase() === other.uuid?.toLowerCase();
}
