/** The definition of a column: its names by branch, its unit, and how to compute it from a card. */

import type { Dialect } from '../machine/dialect.js';
import type { Card, CardProcess } from '../machine/machine.js';

/** One column that can be queried. */
export interface Field {
  /** The name in the heading, then its aliases. */
  names: readonly [string, ...string[]];
  /** Follows each number, unless `nounits`, and appears in the header. */
  unit: 'MiB' | '%' | 'W' | 'MHz' | 'us' | null;
  /** Digits after the decimal point. */
  digits: number;
  /** First and last branch that know the field. */
  from: number;
  until: number;
  /** The subject: the machine (no card can affect it), a value fixed when the driver starts, or a reading. */
  about: 'machine' | 'card' | 'reading';
  /** A number gets the unit, a text is printed unchanged, null means not available. */
  value: (seen: Seen) => string | number | null;
}

/** The input of a column. */
export interface Seen {
  card: Card;
  /** The process of this row of the process list. */
  process: CardProcess | null;
  /** The card's index today, and how many cards the driver counts. */
  index: number;
  count: number;
  driver: string;
  dialect: Dialect;
  now: Date;
}

/** A reading of all branches without unit, and the given differences. */
export function reading(names: string, value: Field['value'], different: Partial<Field> = {}): Field {
  const [first = '', ...others] = names.split(' or ');
  return {
    names: [first, ...others],
    unit: null,
    digits: 0,
    from: 0,
    until: Infinity,
    about: 'reading',
    value,
    ...different,
  };
}

/** Fixed when the driver starts, so that a card which fails later still shows it. */
export function fixed(names: string, value: Field['value'], different: Partial<Field> = {}): Field {
  return reading(names, value, { about: 'card', ...different });
}

/** The three pairs of words for a boolean; null stays null. */
export const enabled = (truth: boolean | null | undefined): string | null => said(truth, 'Enabled', 'Disabled');
export const yes = (truth: boolean | null | undefined): string | null => said(truth, 'Yes', 'No');
export const active = (truth: boolean | null | undefined): string | null => said(truth, 'Active', 'Not Active');

function said(truth: boolean | null | undefined, ifTrue: string, ifFalse: string): string | null {
  if (truth === null || truth === undefined) return null;
  return truth ? ifTrue : ifFalse;
}
