/** How long each card has been held by a job that does not use it. Nothing is ever ended because of it. */

import type { JudgedCard, Occupancy } from '../model/occupancy.js';
import type { Snapshot } from '../model/snapshot.js';

/** Adds to each held card for how many seconds it has been idle; to be called with every look, in order. */
export type HeldIdle = (snapshot: Snapshot, occupancy: Occupancy) => Occupancy;

interface Idle {
  /** Ids of the containers that hold the card: another job begins anew. */
  readonly holders: string;
  /** Epoch milliseconds of the first look that found the card idle; null while it is in use. */
  readonly sinceMs: number | null;
}

/**
 * Idle is a card with a utilisation of 0 and no process that is listed. Where the driver does not tell the utilisation (MIG, some
 * old cards) or was blind, nothing is said in that look, and the time goes on. In memory: a restart of the gate begins anew.
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
    // Without the containers nobody knows who holds what: what was known stands.
    if (occupancy.probes.docker.state === 'ok') known = next;
    return { ...occupancy, cards };
  };
}

/** Null where the look does not tell. */
function isIdle({ utilization, processes }: JudgedCard): boolean | null {
  if (processes !== null && processes > 0) return false;
  return utilization === null ? null : utilization === 0;
}
