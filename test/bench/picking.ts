/** How long a pick takes, and how often it keeps jobs inside an island. */

import { cardIndex, type CardIndex } from '../../src/model/card.js';
import type { LinkKind } from '../../src/model/snapshot.js';
import type { IndexLinks } from '../../src/pick/islands.js';
import { pick } from '../../src/pick/pick.js';
import { preferences } from '../../src/pick/preferences.js';
import { subsets } from '../pick/naive.js';
import { dice } from '../soak/random.js';
import { figures, ms, type Row } from './figures.js';

/** Cards in islands of this size: NVLink inside, across the machine `SYS`. */
export function islandLinks(cards: number, size: number): IndexLinks {
  const all = Array.from({ length: cards }, (_, at) => cardIndex(at));
  const kind = (a: number, b: number): LinkKind => (Math.floor(a / size) === Math.floor(b / size) ? 'NV' : 'SYS');
  return new Map(all.map((a) => [a, new Map(all.filter((b) => b !== a).map((b) => [b, kind(a, b)]))]));
}

/**
 * Every count of 16 cards, with a matrix, on machines from empty to nearly full, including the process's first calls.
 * Compared with the same answers by brute force: every subset, all its costs, and the whole list sorted.
 */
export function pickingAnyOfSixteen(): Row {
  const links = islandLinks(16, 4);
  const chances = dice(7);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < 60; round++) {
    for (let count = 1; count <= 16; count++) {
      const free = all(16).filter(() => round === 0 || chances.chance(75));
      if (free.length < count) continue;
      const [mine, myMs] = clocked(() => pick(free, count, links)?.indices);
      ours.push(myMs);
      if (round > 5) continue;
      const [brute, bruteMs] = clocked(() => bruteForce(free, count, links));
      theirs.push(bruteMs);
      if (String(mine) !== String(brute))
        throw new Error(`picked ${String(mine)} and not ${String(brute)} of ${String(free)}`);
    }
  }
  const [mine, brute] = [figures(ours), figures(theirs)];
  const worst = Math.max(...ours);
  return {
    what: 'picking any number of 16 cards, with a matrix',
    against: 'all subsets by brute force, which gives the same answers',
    measured: `median ${mine.median.toFixed(2)} ms, worst ${ms(worst)} of ${ours.length}; brute force ${ms(brute.median)}, worst ${ms(Math.max(...theirs))} of ${theirs.length}`,
    mark: 'median below 1 ms, worst below 10 ms',
    met: mine.median < 1 && worst < 10,
  };
}

function bruteForce(free: readonly CardIndex[], count: number, links: IndexLinks): readonly CardIndex[] | undefined {
  const costs = preferences(free, count, links).map(({ cost }) => cost);
  return subsets(free, count)
    .map((cards) => ({ cards: cards as CardIndex[], costs: costs.map((cost) => cost(cards as CardIndex[])) }))
    .toSorted((one, other) => {
      const at = one.costs.findIndex((cost, place) => cost !== other.costs[place]);
      return at === -1 ? 0 : one.costs[at]! - other.costs[at]!;
    })[0]?.cards;
}

function clocked<Answer>(work: () => Answer): readonly [Answer, number] {
  const began = performance.now();
  const answer = work();
  return [answer, performance.now() - began];
}

const all = (cards: number): CardIndex[] => Array.from({ length: cards }, (_, at) => cardIndex(at));

interface Shape {
  readonly cards: number;
  readonly island: number;
  readonly load: number;
  readonly jobs: number;
}

type Chooser = (free: readonly CardIndex[], count: number) => readonly CardIndex[] | null;

/**
 * The share of 4-card jobs that lie inside one island, in percent. Jobs of 1, 2, 4 and 8 cards arrive at random, wait in
 * order when they do not fit, and end at random, so that the machine stays near the load.
 */
export function locality({ cards, island, load, jobs }: Shape, choose: Chooser, seed: number): number {
  const chances = dice(seed);
  const free = new Set(all(cards));
  const running: { cards: readonly CardIndex[]; endsAt: number }[] = [];
  let [now, inside, fours] = [0, 0, 0];
  const sizes = [1, 2, 4, 8];
  const meanSize = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
  for (let job = 0; job < jobs; job++) {
    now += -Math.log(1 - chances.next()) * (meanSize / (cards * load));
    const count = chances.one(sizes);
    for (;;) {
      for (let at = running.length - 1; at >= 0; at--) {
        if (running[at]!.endsAt > now) continue;
        for (const card of running[at]!.cards) free.add(card);
        running.splice(at, 1);
      }
      const chosen = choose(
        [...free].toSorted((a, b) => a - b),
        count,
      );
      if (chosen !== null) {
        for (const card of chosen) free.delete(card);
        running.push({ cards: chosen, endsAt: now - Math.log(1 - chances.next()) });
        if (count === 4) {
          fours++;
          if (new Set(chosen.map((card) => Math.floor(card / island))).size === 1) inside++;
        }
        break;
      }
      now = Math.min(...running.map(({ endsAt }) => endsAt));
    }
  }
  return (100 * inside) / fours;
}

const firstWindow: Chooser = (free, count) => {
  const window = free.findIndex((card, at) => free[at + count - 1] === card + count - 1);
  if (free.length < count) return null;
  return window === -1 ? free.slice(0, count) : free.slice(window, window + count);
};

function atRandom(seed: number): Chooser {
  const chances = dice(seed);
  return (free, count) => {
    if (free.length < count) return null;
    const left = [...free];
    return Array.from({ length: count }, () => left.splice(chances.between(0, left.length - 1), 1)[0]!);
  };
}

export function localityRows(jobs: number): Row[] {
  const machines = [
    { cards: 8, island: 4, marks: [95, 90, 84] },
    { cards: 16, island: 4, marks: null },
  ];
  const loads = [0.4, 0.6, 0.8];
  return machines.map(({ cards, island, marks }) => {
    const links = islandLinks(cards, island);
    const shares = (chooser: () => Chooser): number[] =>
      loads.map((load) => locality({ cards, island, load, jobs }, chooser(), 1));
    const ours = shares(() => (free, count) => pick(free, count, links)?.indices ?? null);
    const others = [shares(() => firstWindow), shares(() => atRandom(2))];
    return {
      what: `4-card jobs inside one island, of ${jobs.toLocaleString('en')} jobs: ${cards} cards in ${cards / island} islands, load ${loads.join(' / ')}`,
      against: 'first consecutive window; random',
      measured: [ours, ...others].map((each) => `${each.map((share) => share.toFixed(1)).join(' / ')} %`).join('; '),
      mark: marks === null ? 'none; for comparison' : `at least ${marks.join(' / ')} %`,
      met: ours.every((share, at) => share >= (marks?.[at] ?? 0)),
    };
  });
}
