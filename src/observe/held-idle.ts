/** How long each card has been held by a job that does not use it. The gate never ends a job because of it. */

import type { JudgedCard, Occupancy } from '../model/occupancy.js';
import type { Snapshot } from '../model/snapshot.js';

/** Adds to each held card for how many seconds it has been idle; call it with every look, in order. */
export type HeldIdle = (snapshot: Snapshot, occupancy: Occupancy) => Occupancy;

interface Idle {
  /** Ids of the containers that hold the card: for another job, the time starts again. */
  readonly holders: string;
  /** Epoch milliseconds of the first look that found the card idle; null while it is in use. */
  readonly sinceMs: number | null;
}

/**
 * A card is idle with a utilisation of 0 and no listed process. Where the utilisation is unknown (MIG, some old cards, a
 * blind driver), that look has no value, and the time continues. In memory only: after a restart of the gate the time starts
 * again.
 */
export function watchHeldIdle(): HeldIdle {
  let known = new Map<string, Idle>();
  return ({ endedAtMs }, occupancy) => {
    const next = new Map<string, Idle>();
    const cards = occupancy.cards.map((card) => {
      if (card.uuid === null || card.claims.length === 0) return card;
      const holders = card.claims.map(({ containerId }) => containerId).join();
      const before = known.get(card.uuid);
      const same = before?.holders === holders ? before : { holders, sinceMs: null };
      const idle = isIdle(card);
      const now = idle === null ? same : { holders, sinceMs: idle ? (same.sinceMs ?? endedAtMs) : null };
      next.set(card.uuid, now);
      if (idle === null) return card;
      const ms = now.sinceMs === null ? 0 : Math.max(0, endedAtMs - now.sinceMs);
      return { ...card, heldIdleSeconds: Math.round(ms / 1000) };
    });
    // If the containers are unknown, so are the holders: keeps the previous state.
    if (occupancy.probes.docker.state === 'ok') known = next;
    return { ...occupancy, cards };
  };
}

/** Null where unknown. */
function isIdle({ utilization, processes }: JudgedCard): boolean | null {
  if (processes !== null && processes > 0) return false;
  return utilization === null ? null : utilization === 0;
}
