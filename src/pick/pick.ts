/** Picks cards for a job: never fewer or other cards than asked for, and deterministically. Pure. */

import type { CardIndex } from '../model/card.js';
import type { Pick, Placement } from '../model/placement.js';
import { candidatesFor, type Candidates } from './candidates.js';
import { islandsSpanned, slowestLink, type IndexLinks } from './islands.js';
import { isAligned, isConsecutive, preferences, type Preference } from './preferences.js';

/**
 * The best `count` of the free cards, or null where there are not that many. `links` null: the topology is unknown, and
 * cards with neighbouring indices are assumed to be close. `failedStarts`: how many starts failed on a card recently; such
 * cards come last. A job of 0 cards gets none.
 */
export function pick(
  free: readonly CardIndex[],
  count: number,
  links: IndexLinks | null,
  failedStarts: ReadonlyMap<CardIndex, number> = new Map(),
): Pick | null {
  if (!Number.isSafeInteger(count) || count < 0) throw new RangeError(`expected a whole number of cards, got ${count}`);
  const choice = [...new Set(free)].toSorted((a, b) => a - b);
  if (count > choice.length) return null;
  if (count === 0) return { indices: [], placement: placementOf([], links, ['no card was asked for']) };

  const candidates = candidatesFor(choice, count, links, failedStarts);
  const order = preferences(choice, count, links, failedStarts);
  const { best, decided, others } = bestOf(candidates, order);
  const reasons = [
    ...(candidates.complete ? [] : ['too many ways to choose: only neighbours and islands were compared']),
    ...(others === 'none' ? ['there is no other choice'] : []),
    ...order.flatMap(({ says }, at) => (decided[at] ? [says(order[at]?.cost(best) ?? 0)] : [])),
    ...(others === 'equal' ? ['the lowest indices among equal choices'] : []),
  ];
  return { indices: best, placement: placementOf(best, links, reasons) };
}

interface Best {
  readonly best: readonly CardIndex[];
  /** For each preference, whether it ranked the best set before one that had tied until then. */
  readonly decided: readonly boolean[];
  /** Whether there was another candidate, and whether one tied on every preference. */
  readonly others: 'none' | 'worse' | 'equal';
}

/**
 * The first of the best sets, in one pass and without building a list: most candidates fail at the first preference, and
 * allocating 12,870 arrays would cost more time than all comparisons.
 */
function bestOf(candidates: Candidates, order: readonly Preference[]): Best {
  let best: readonly CardIndex[] | null = null;
  let others: Best['others'] = 'none';
  const costs: number[] = [];
  const decided: boolean[] = [];
  const crown = (cards: readonly CardIndex[], from: number): void => {
    best = [...cards];
    for (let at = from; at < order.length; at += 1) {
      costs[at] = (order[at] as Preference).cost(cards);
      decided[at] = false;
    }
  };
  candidates.each((cards) => {
    if (best === null) {
      crown(cards, 0);
      return;
    }
    for (let at = 0; at < order.length; at += 1) {
      const cost = (order[at] as Preference).cost(cards);
      if (cost === costs[at]) continue;
      if (cost < (costs[at] as number)) {
        crown(cards, at);
        others = 'worse';
      } else if (others === 'none') others = 'worse';
      // This set beat those that had tied until now, so this preference made the difference.
      decided[at] = true;
      return;
    }
    others = 'equal';
  });
  if (best === null) throw new Error('there is no candidate to choose from');
  return { best, decided, others };
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
