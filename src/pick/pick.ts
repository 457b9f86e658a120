/** Picks cards for a job: never fewer or other cards than asked for, and the same cards for the same question. Pure. */

import type { CardIndex } from '../model/card.js';
import type { Pick, Placement } from '../model/placement.js';
import { candidatesFor } from './candidates.js';
import { islandsSpanned, slowestLink, type IndexLinks } from './islands.js';
import { isAligned, isConsecutive, preferences } from './preferences.js';

/**
 * The best `count` of the free cards, or null where there are not that many. `links` null: no topology is known, and
 * neighbours by index are taken for neighbours by wire. A job of 0 cards gets none.
 */
export function pick(free: readonly CardIndex[], count: number, links: IndexLinks | null): Pick | null {
  if (!Number.isSafeInteger(count) || count < 0) throw new RangeError(`expected a whole number of cards, got ${count}`);
  const choice = [...new Set(free)].toSorted((a, b) => a - b);
  if (count > choice.length) return null;
  if (count === 0) return { indices: [], placement: placementOf([], links, ['no card was asked for']) };

  let { candidates, complete } = candidatesFor(choice, count, links);
  const reasons: string[] = complete ? [] : ['too many ways to choose: only neighbours and islands were compared'];
  if (candidates.length === 1) reasons.push('there is no other choice');
  for (const preference of preferences(choice, count, links)) {
    if (candidates.length === 1) break;
    const { best, cost } = cheapest(candidates, preference.cost);
    if (best.length < candidates.length) reasons.push(preference.says(cost));
    candidates = best;
  }
  if (candidates.length > 1) reasons.push('the lowest indices of what was equal');
  const [indices] = candidates;
  if (indices === undefined) throw new Error(`no candidate for ${count} of cards ${choice.join(',')}`);
  return { indices, placement: placementOf(indices, links, reasons) };
}

/** Those that cost least, in the order they came. */
function cheapest(candidates: readonly (readonly CardIndex[])[], costOf: (cards: readonly CardIndex[]) => number) {
  let cost = Infinity;
  let best: (readonly CardIndex[])[] = [];
  for (const candidate of candidates) {
    const own = costOf(candidate);
    if (own < cost) {
      cost = own;
      best = [candidate];
    } else if (own === cost) best.push(candidate);
  }
  return { best, cost };
}

function placementOf(indices: readonly CardIndex[], links: IndexLinks | null, reasons: readonly string[]): Placement {
  return {
    islands: links === null ? null : islandsSpanned(indices, links),
    slowest_link: links === null ? null : slowestLink(indices, links),
    consecutive: isConsecutive(indices),
    aligned: isAligned(indices),
    reasons,
  };
}
