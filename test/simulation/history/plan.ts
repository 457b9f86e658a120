/**
 * Everything that happens in a history apart from the gates' actions: drawn from the seed beforehand, so that parts can be
 * left out.
 */

import type { Dice } from '../../soak/random.js';
import type { Chance } from '../process/chance.js';
import { FOCI, longer, WEATHERS, type Focus, type Weather } from '../process/fates.js';

export interface Plan {
  readonly gates: readonly string[];
  readonly cards: number;
  /** One for all gates, none, or, as after a failed failover, one for each. */
  readonly redis: 'one' | 'none' | 'one each';
  readonly lockThrough: 'claim' | 'start';
  readonly weather: Weather;
  /** The kind of calls with the most faults. */
  readonly focus: Focus | null;
  /** How long jobs run: no time, a short time, or until the end of the history; one is drawn for each start. */
  readonly jobs: readonly ('at_once' | 'short' | 'long')[];
  /** How many out of a hundred starts the engine fails, whether the container causes it or not. */
  readonly startsFail: number;
  readonly events: readonly PlanEvent[];
}

export type PlanEvent = { readonly at: number } & (
  | Post
  | { readonly kind: 'delete'; readonly gate: string; readonly run: string }
  | { readonly kind: 'freeze'; readonly gate: string; readonly ms: number }
  | { readonly kind: 'crash'; readonly gate: string; readonly ms: number }
  /** A person does this to a container. */
  | { readonly kind: 'hand'; readonly what: 'rename' | 'remove' | 'start' | 'copy'; readonly nth: number }
  | { readonly kind: 'prune' }
  /** Redis loses its data, is down for a while, or hangs. */
  | { readonly kind: 'redis'; readonly what: 'empties' | 'restarts' | 'hangs'; readonly ms: number }
  | { readonly kind: 'engine'; readonly what: 'restarts' | 'hangs'; readonly ms: number }
  | { readonly kind: 'clock'; readonly byMs: number }
);

export interface Post {
  readonly kind: 'post';
  readonly gate: string;
  readonly run: string;
  readonly count: number;
  /** Requests of one run that differ in this are different requests. */
  readonly variant: number;
  /** How often the caller retries when told to. */
  readonly insists: number;
  /** Null: it does not hang up. */
  readonly hangsUpAfterMs: number | null;
}

const GATES = ['a', 'b', 'c'];
const RUNS = ['X', 'Y', 'Z'];
const DAY_MS = 86_400_000;

export function planOf(chance: Chance): Plan {
  const dice = chance('plan');
  const gates = GATES.slice(0, dice.one([1, 2, 2, 2, 3]));
  const cards = dice.one([1, 1, 2, 3]);
  const redis = dice.one(
    gates.length > 1
      ? (['one', 'one', 'one', 'one', 'one', 'one each', 'one each', 'none'] as const)
      : (['one', 'none'] as const),
  );
  const posts = postsOf(dice, gates, cards);
  return {
    gates,
    cards,
    redis,
    lockThrough: dice.chance(15) ? 'start' : 'claim',
    weather: dice.one(WEATHERS),
    focus: dice.chance(40) ? dice.one(FOCI) : null,
    jobs: dice.one([['at_once'], ['short'], ['at_once', 'short', 'long'], ['long'], ['short', 'long']]),
    startsFail: dice.one([0, 0, 0, 25]),
    events: [...posts, ...troublesOf(dice, gates, redis !== 'none')].toSorted((one, other) => one.at - other.at),
  };
}

/** All of them at nearly the same time, or one by one. */
function postsOf(dice: Dice, gates: readonly string[], cards: number): PlanEvent[] {
  const together = dice.chance(60);
  const runs = RUNS.slice(0, dice.one([1, 2, 2, 3]));
  const variants = dice.chance(15) ? 2 : 1;
  return Array.from({ length: dice.between(2, 5) }, () => ({
    at: together && dice.chance(80) ? 10 * dice.next() : longer(dice, 10, 5000),
    kind: 'post',
    gate: dice.one(gates),
    run: dice.one(runs),
    count: dice.chance(8) ? 0 : dice.chance(75) ? 1 : dice.between(1, cards),
    variant: dice.between(1, variants),
    insists: dice.one([0, 1, 1, 3]),
    hangsUpAfterMs: dice.chance(12) ? longer(dice, 1, 1000) : null,
  }));
}

function troublesOf(dice: Dice, gates: readonly string[], redis: boolean): PlanEvent[] {
  const many = dice.one([0, 0, 1, 1, 2, 3]);
  return Array.from({ length: many }, () => ({ at: longer(dice, 1, 6000), ...troubleOf(dice, gates, redis) }));
}

function troubleOf(dice: Dice, gates: readonly string[], redis: boolean): DistributedOmit<PlanEvent, 'at'> {
  const gate = dice.one(gates);
  const kind = dice.one([
    'delete',
    'delete',
    'freeze',
    'crash',
    'hand',
    'hand',
    'prune',
    'redis',
    'redis',
    'engine',
    'clock',
  ] as const);
  switch (kind) {
    case 'delete':
      return { kind, gate, run: dice.one(RUNS) };
    case 'freeze':
      return { kind, gate, ms: longer(dice, 50, 12_000) };
    case 'crash':
      return { kind, gate, ms: longer(dice, 10, 5000) };
    case 'hand':
      return { kind, what: dice.one(['rename', 'rename', 'remove', 'start', 'copy']), nth: dice.between(0, 2) };
    case 'prune':
      return { kind };
    case 'redis':
      if (!redis) return { kind: 'prune' };
      return { kind, what: dice.one(['empties', 'restarts', 'hangs']), ms: longer(dice, 100, 5000) };
    case 'engine':
      return { kind, what: dice.one(['restarts', 'hangs']), ms: longer(dice, 100, 5000) };
    case 'clock':
      return { kind, byMs: dice.one([DAY_MS, -DAY_MS]) };
    default:
      return kind satisfies never;
  }
}

type DistributedOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
