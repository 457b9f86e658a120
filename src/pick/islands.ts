/** Which cards are close to each other, by `nvidia-smi topo -m`. */

import type { CardIndex, CardUuid } from '../model/card.js';
import { LINK_KINDS, type LinkKind, type Links } from '../model/snapshot.js';

/** The links between cards by index pair; a missing pair means an unknown link. */
export type IndexLinks = ReadonlyMap<CardIndex, ReadonlyMap<CardIndex, LinkKind>>;

/** The machine at one link level: cards that are connected by links of at least this level share an island. */
export interface Level {
  readonly kind: LinkKind;
  /** The island number of each card; a card without any known link has none. */
  readonly islandOf: ReadonlyMap<CardIndex, number>;
  /** The number of islands, so that a card outside the matrix can count as an island of its own. */
  readonly islands: number;
}

/**
 * The matrix by current indices. Cards without an index or a uuid are left out. Where the two directions disagree, the
 * slower one counts; where only one is known, it counts for both.
 */
export function linksByIndex(
  links: Links,
  cards: readonly { readonly index: CardIndex | null; readonly uuid: CardUuid | null }[],
): IndexLinks {
  const here = cards.flatMap(({ index, uuid }) => (index === null || uuid === null ? [] : [{ index, uuid }]));
  return new Map(
    here.map((from) => [
      from.index,
      new Map(
        here.flatMap((to): [CardIndex, LinkKind][] => {
          if (to.index === from.index) return [];
          const kind = slower(links.get(from.uuid)?.get(to.uuid), links.get(to.uuid)?.get(from.uuid));
          return kind === undefined ? [] : [[to.index, kind]];
        }),
      ),
    ]),
  );
}

/**
 * The levels at which the machine splits into islands and at least one island has several cards, fastest link first. Other
 * levels distinguish no sets: there every card is alone, or all are together.
 */
export function splittingLevels(links: IndexLinks): readonly Level[] {
  return LINK_KINDS.map((kind) => levelAt(kind, links)).filter(
    ({ islands, islandOf }) => islands > 1 && islands < islandOf.size,
  );
}

/** How many islands the cards span at the fastest level that splits the machine; 1 where none does. */
export function islandsSpanned(cards: readonly CardIndex[], links: IndexLinks): number {
  const [best] = splittingLevels(links);
  if (best === undefined) return Math.min(1, cards.length);
  return new Set(cards.map((card) => best.islandOf.get(card) ?? `card ${card}`)).size;
}

/** The slowest link between any two of the cards; null for fewer than two cards, or where a link is unknown. */
export function slowestLink(cards: readonly CardIndex[], links: IndexLinks): LinkKind | null {
  const between = new Set(cards.flatMap((from, at) => cards.slice(at + 1).map((to) => links.get(from)?.get(to))));
  if (between.has(undefined)) return null;
  return LINK_KINDS.findLast((kind) => between.has(kind)) ?? null;
}

function levelAt(kind: LinkKind, links: IndexLinks): Level {
  const reach = LINK_KINDS.indexOf(kind);
  const islandOf = new Map<CardIndex, number>();
  let islands = 0;
  for (const start of links.keys()) {
    if (islandOf.has(start)) continue;
    const toVisit = [start];
    for (let card = toVisit.pop(); card !== undefined; card = toVisit.pop()) {
      if (islandOf.has(card)) continue;
      islandOf.set(card, islands);
      for (const [next, link] of links.get(card) ?? []) if (LINK_KINDS.indexOf(link) <= reach) toVisit.push(next);
    }
    islands += 1;
  }
  return { kind, islandOf, islands };
}

function slower(one: LinkKind | undefined, other: LinkKind | undefined): LinkKind | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return LINK_KINDS.indexOf(one) >= LINK_KINDS.indexOf(other) ? one : other;
}
