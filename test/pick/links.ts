/** Topology matrices for tests. */

import { cardIndex, type CardIndex } from '../../src/model/card.js';
import type { LinkKind } from '../../src/model/snapshot.js';
import type { IndexLinks } from '../../src/pick/islands.js';

/** A matrix of `count` cards in which `kind` gives the link between two of them; undefined where unknown. */
export function matrix(count: number, kind: (one: number, other: number) => LinkKind | undefined): IndexLinks {
  const cards = Array.from({ length: count }, (_, index) => cardIndex(index));
  return new Map(
    cards.map((from) => [
      from,
      new Map(
        cards.flatMap((to): [CardIndex, LinkKind][] => {
          const link = from === to ? undefined : kind(Math.min(from, to), Math.max(from, to));
          return link === undefined ? [] : [[to, link]];
        }),
      ),
    ]),
  );
}

/** Two islands of four: neighbours on one switch by PIX, a socket between them. */
export const twoIslands = matrix(8, (one, other) => (one >> 2 === other >> 2 ? 'PIX' : 'SYS'));
/** Even cards on one socket, odd ones on the other. */
export const interleaved = matrix(8, (one, other) => (one % 2 === other % 2 ? 'NODE' : 'SYS'));
/** Pairs by NVLink bridge; two pairs share a switch, two switches a machine. */
export const bridges = matrix(8, (one, other) =>
  one >> 1 === other >> 1 ? 'NV' : one >> 2 === other >> 2 ? 'PXB' : 'SYS',
);
/** Every card reaches every other by NVSwitch. */
export const nvswitch = matrix(8, () => 'NV');
