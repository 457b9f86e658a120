/** Which cards a container has, for an answer: the cards of its claim, in the words of the cards seen before. */

import type { GrantedCard } from './admission.js';
import type { CardIndex, CardUuid } from './card.js';
import { cardsNamed, cardWithIndex } from './named-card.js';
import type { RememberedCard, SeenContainer } from './snapshot.js';

/**
 * The cards that a container's claim names, each once: those that the judge says it holds. The index is the one that was
 * written beside the uuid when the card was given, else the one that the card has now. A name that no remembered card
 * answers to is told as written, unless the claim has the card by its other name too: an older agent's label names it by
 * index, and the device request by uuid.
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
  // Where it names several, the index beside it is of one of them, and nobody knows of which.
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
