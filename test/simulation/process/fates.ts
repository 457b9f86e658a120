/** The fate of a call: the duration of each part, where it breaks, and what happens to the process meanwhile. */

import type { Dice } from '../../soak/random.js';
import type { Chance } from './chance.js';

export interface Fate {
  /** Nothing unusual: never reported as a fault, and never removed by shrinking. */
  readonly plain: boolean;
  /** The time until it reaches the server, until the server is done, and until the answer is back. */
  readonly thereMs: number;
  readonly insideMs: number;
  readonly backMs: number;
  readonly end: Ending;
  readonly process: Mishap | null;
}

export type Ending =
  | 'answered'
  /** The call is executed, and the connection breaks before the answer arrives. */
  | 'cut_after'
  /** The connection breaks before the call reaches the server. */
  | 'cut_before'
  /** The connection breaks while the server executes the call, which continues. */
  | 'cut_amid'
  /** The call is executed, and its answer never arrives. */
  | 'silent'
  /** The server answers with a failure, and has done nothing. */
  | 'fails';

export interface Mishap {
  readonly what: 'freeze' | 'crash';
  /** When the call is sent, or when the server has executed it. */
  readonly when: 'sent' | 'done';
  /** How long it is frozen, or until its next life. */
  readonly ms: number;
}

/** How many out of a hundred calls meet each kind of fault. */
export interface Weather {
  readonly slow: number;
  readonly cut: number;
  readonly hang: number;
  readonly fails: number;
  readonly freeze: number;
  readonly crash: number;
}

const CALM: Weather = { slow: 0, cut: 0, hang: 0, fails: 0, freeze: 0, crash: 0 };
export const WEATHERS: readonly Weather[] = [
  CALM,
  { ...CALM, slow: 30 },
  { ...CALM, slow: 10, cut: 8, hang: 8 },
  { ...CALM, slow: 10, freeze: 6 },
  { ...CALM, slow: 10, crash: 3 },
  { slow: 15, cut: 4, hang: 4, fails: 2, freeze: 3, crash: 1 },
];
/** For calls of one kind, so that rare combinations occur too. */
const FOCUSED: Weather = { slow: 30, cut: 25, hang: 12, fails: 4, freeze: 8, crash: 5 };
/** The kinds of calls on which faults may be focused. */
export const FOCI = ['create', 'start', 'remove', 'list', 'look', 'release'] as const;
export type Focus = (typeof FOCI)[number];

/** The fate of the call with this name. */
export type Fates = (call: string) => Fate;

/** `focus`: the kind of calls with more faults. The calls in `spared` have none. */
export function fatesOf(chance: Chance, weather: Weather, focus: Focus | null, spared: ReadonlySet<string>): Fates {
  return (call) => {
    const dice = chance(call);
    const plain = plainFate(dice);
    if (spared.has(call)) return plain;
    return worsened(plain, dice, focus !== null && call.includes(` ${focus}`) ? FOCUSED : weather);
  };
}

export function plainFate(dice: Dice): Fate {
  return {
    plain: true,
    thereMs: 0.1 + 2 * dice.next(),
    insideMs: 3 * dice.next(),
    backMs: 0.1 + 2 * dice.next(),
    end: 'answered',
    process: null,
  };
}

function worsened(plain: Fate, dice: Dice, weather: Weather): Fate {
  let bad: Partial<Fate> | null = null;
  if (dice.chance(weather.slow)) bad = { [dice.one(['thereMs', 'insideMs', 'backMs'])]: longer(dice, 5, 1500) };
  if (dice.chance(weather.hang)) bad = dice.chance(50) ? { thereMs: longer(dice, 500, 12_000) } : { end: 'silent' };
  if (dice.chance(weather.cut)) {
    const end = dice.one(['cut_after', 'cut_before', 'cut_amid'] as const);
    bad = { ...bad, end, ...(end === 'cut_amid' && { insideMs: longer(dice, 2, 200) }) };
  }
  if (dice.chance(weather.fails)) bad = { end: 'fails' };
  const process = mishap(dice, weather);
  if (bad === null && process === null) return plain;
  return { ...plain, ...bad, process, plain: false };
}

function mishap(dice: Dice, weather: Weather): Mishap | null {
  const when = dice.one(['sent', 'done'] as const);
  if (dice.chance(weather.crash)) return { what: 'crash', when, ms: longer(dice, 10, 5000) };
  if (dice.chance(weather.freeze)) return { what: 'freeze', when, ms: longer(dice, 20, 10_000) };
  return null;
}

/** Between the two, log-uniformly: each factor of ten is equally likely. */
export function longer(dice: Dice, leastMs: number, mostMs: number): number {
  return leastMs * (mostMs / leastMs) ** dice.next();
}
