/** A look as it would be once these containers have ended. Pure. */

import type { Occupancy } from '../model/occupancy.js';

/**
 * Cards that only ended containers hold count as free, unless something else makes them unavailable. A guess, good enough to
 * decide which requests to wake: what they get is decided by a new look.
 */
export function withoutEnded(occupancy: Occupancy, ended: ReadonlySet<string>): Occupancy {
  const cards = occupancy.cards.map((card) => {
    const isOver = card.state === 'job_held' && card.claims.every(({ containerId }) => ended.has(containerId));
    const isSound = card.excluded === null && card.unhealthy.length === 0 && card.unknownBecause === null;
    return isOver && isSound ? { ...card, state: 'free' as const, claims: [] } : card;
  });
  return { ...occupancy, cards };
}
