/** What a column is: its names by branch, its unit, and how it is read off a card. */

import type { Dialect } from '../machine/dialect.js';
import type { Card, CardProcess } from '../machine/machine.js';

/** One column that can be asked for. */
export interface Field {
  /** The name that heads the column, then the other names it can be asked by. */
  names: readonly [string, ...string[]];
  /** Follows each number, unless `nounits`, and stands in the header. */
  unit: 'MiB' | '%' | 'W' | 'MHz' | 'us' | null;
  /** Digits after the point. */
  digits: number;
  /** First and last branch that know the field. */
  from: number;
  until: number;
  /** What it is about: the machine (no card can spoil it), something fixed when the driver starts, or a reading. */
  about: 'machine' | 'card' | 'reading';
  /** A number gets the unit, a text stands as it is, null is "no such thing". */
  value: (seen: Seen) => string | number | null;
}

/** What a column is made from. */
export interface Seen {
  card: Card;
  /** The process that a row of the process list is about. */
  process: CardProcess | null;
  /** The card's number today, and how many the driver counts. */
  index: number;
  count: number;
  driver: string;
  dialect: Dialect;
  now: Date;
}

/** A reading of all branches without unit, and what is different about this one. */
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

/** What is fixed from the driver's start on, so that a card which fails later still has it. */
export function fixed(names: string, value: Field['value'], different: Partial<Field> = {}): Field {
  return reading(names, value, { about: 'card', ...different });
}

/** The three pairs of words for a truth; null stays null. */
export const enabled = (truth: boolean | null | undefined): string | null => said(truth, 'Enabled', 'Disabled');
export const yes = (truth: boolean | null | undefined): string | null => said(truth, 'Yes', 'No');
export const active = (truth: boolean | null | undefined): string | null => said(truth, 'Active', 'Not Active');

function said(truth: boolean | null | undefined, ifTrue: string, ifFalse: string): string | null {
  if (truth === null || truth === undefined) return null;
  return truth ? ifTrue : ifFalse;
}
