/** Whose jobs held how many cards for how long: card-seconds by principal. */

import type { Occupancy } from '../model/occupancy.js';
import type { HeldUse } from '../model/ports/meter.js';

/** Call it with every judged look, in order. `nowMs`: when that was, on the monotonic clock. */
export type WatchHeldUse = (occupancy: Occupancy, nowMs: number) => HeldUse;

/** Each principal is a series in Prometheus, and names of tokens and of those they speak for come from outside. */
const MOST_PRINCIPALS = 100;
/** Long enough for every scrape to have seen the last of a count. */
const FORGOTTEN_AFTER_MS = 24 * 3_600_000;
/** Everybody for whom there is no room. */
const OTHER = 'other';
/** A job of an older agent, whose labels name nobody. */
const NOBODY = 'unknown';

/**
 * Counts what a container held at two looks, for all the time between them: a container holds its cards from its create to its
 * end and never gets them back, so that it held them meanwhile too. What began or ended in between is counted from or up to
 * the look that saw it: too little by at most the time between two looks at each end, never too much by more than a look
 * takes. A look that could not list the containers counts for nothing, however many follow each other; after it, what held
 * before and still holds is counted for the whole time, and what came and went meanwhile is not. Where only the driver could
 * not be seen the containers still say who holds what, and it counts. A double booking counts for each of its jobs.
 *
 * At most 100 principals have a count of their own. Beyond, whoever has held nothing for a day is forgotten; if nobody has,
 * newcomers count together as `other`. In memory only: a restart begins at 0, and the time between two lives of the gate is
 * counted by neither.
 */
export function watchHeldUse(mostPrincipals = MOST_PRINCIPALS): WatchHeldUse {
  let before: { readonly holdings: ReadonlyMap<string, string>; readonly atMs: number } | null = null;
  /** When each principal was last seen to hold something. */
  const lastHeldMs = new Map<string, number>();

  function admit(principal: string, nowMs: number): readonly string[] {
    if (principal === OTHER || lastHeldMs.has(principal) || lastHeldMs.size < mostPrincipals) return [];
    const old = [...lastHeldMs].filter(([, atMs]) => nowMs - atMs >= FORGOTTEN_AFTER_MS).map(([name]) => name);
    for (const name of old) lastHeldMs.delete(name);
    return old;
  }

  /** The principal where it has or gets a count of its own. */
  function nameFor(principal: string): string {
    return lastHeldMs.has(principal) || lastHeldMs.size < mostPrincipals ? principal : OTHER;
  }

  return (occupancy, nowMs) => {
    if (occupancy.probes.docker.state !== 'ok') return NOTHING;
    const holdings = holdingsOf(occupancy);
    const forgotten = [...new Set(holdings.values())].flatMap((principal) => admit(principal, nowMs));
    const added = new Map<string, number>();
    const seconds = before === null ? 0 : Math.max(0, nowMs - before.atMs) / 1000;
    for (const [holding, principal] of holdings) {
      const name = nameFor(principal);
      if (name !== OTHER) lastHeldMs.set(name, nowMs);
      const heldBefore = before?.holdings.has(holding) === true;
      added.set(name, (added.get(name) ?? 0) + (heldBefore ? seconds : 0));
    }
    before = { holdings, atMs: nowMs };
    return { added, forgotten };
  };
}

const NOTHING: HeldUse = { added: new Map(), forgotten: [] };

/** By container and card, whose it is. */
function holdingsOf({ cards }: Occupancy): ReadonlyMap<string, string> {
  return new Map(
    cards.flatMap(({ uuid, index, claims }) =>
      claims.map(({ containerId, principal }) => [`${containerId} ${uuid ?? index}`, principal ?? NOBODY] as const),
    ),
  );
}
