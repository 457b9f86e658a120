/** A look as it would read once these containers have ended. Pure. */

import type { Occupancy } from '../model/occupancy.js';

/**
 * The cards that only ended containers hold count as free where nothing else is known against them. A guess, good enough to
 * say who should ask now: what they get is decided by a look of their own.
 */
export function withoutEnded(occupancy: Occupancy, ended: ReadonlySet<string>): Occupancy {
  const cards = occupancy.cards.map((card) => {
    const isOver = card.state === 'job_held' && card.claims.every(({ containerId }) => ended.has(containerId));
    const isSound = card.excluded === null && card.unhealthy.length === 0 && card.unknownBecause === null;
    return isOver && isSound ? { ...card, state: 'free' as const, claims: [] } : card;
  });
  return { ...occupancy, cards };
}
