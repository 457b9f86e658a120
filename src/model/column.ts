/** The types of the table in `columns`: how a column of nvidia-smi is described. */

import type { HealthReason, WarningReason } from './card.js';
import type { HealthReadings, Reading, Readings } from './snapshot.js';

/** A name of a column, and the driver branches that accept it; an omitted bound means from 418 or to 610. */
export interface FieldName {
  readonly field: string;
  readonly from?: number;
  readonly until?: number;
  /** The one branch in between that refuses it. */
  readonly except?: number;
}

/**
 * The purpose of a column, which decides what an error word in it means (see `isErrorOfCard`).
 * `needed`: without it a row cannot be assigned to a card, so a driver that refuses it cannot be queried at all.
 * `deciding`: it decides whether the card is free.
 * `shown`: it is displayed, or helps to tell cards apart.
 * `health`: it feeds a finding, and is queried only while health is checked.
 */
export type Role = 'needed' | 'deciding' | 'shown' | 'health';

/** The format of a value; `probe/nvidia-smi/column-shapes` defines each. Other text in such a column is unreadable. */
export type NumberShape = 'whole_number' | 'mib' | 'percent' | 'celsius' | 'watts';
export type TextShape =
  | 'uuid'
  | 'bus_id'
  | 'version'
  | 'on_off'
  | 'yes_no'
  | 'active'
  | 'counter'
  | 'compute_mode'
  | 'any_text';
export type Shape = NumberShape | TextShape;

/**
 * Which values of a column mean its finding; case is ignored.
 * `one_of`: those in `bad` do, those in `good` do not, and any other is inconclusive.
 * `all_but`: every value does, including words of future drivers, except those in `good`; those in `silent` are
 * inconclusive.
 * `above`: a number above this one does.
 */
export type Meaning =
  | { readonly kind: 'one_of'; readonly bad: readonly string[]; readonly good: readonly string[] }
  | { readonly kind: 'all_but'; readonly good: readonly string[]; readonly silent: readonly string[] }
  | { readonly kind: 'above'; readonly limit: number };

/** `unhealthy` excludes the card until the driver stops reporting it; `warning` is shown and leaves the card in use. */
type Named =
  | { readonly severity: 'unhealthy'; readonly reason: HealthReason }
  | { readonly severity: 'warning'; readonly reason: WarningReason };

/** The finding of a column. Two columns may feed one reason; the first conclusive one counts. */
export type ColumnFinding = Named & {
  readonly means: Meaning;
  /** The sentence for the person who has to act, built from the driver's word. */
  readonly detail: (word: string) => string;
  /** It counts only while another column has this value. */
  readonly onlyWhile?: { readonly reading: keyof Readings; readonly says: string };
  /** For the runbook: what it is, and what helps. */
  readonly what: string;
  readonly helps: string;
};

/** A separate query in which drivers print a column that `--query-gpu` does not have yet. */
export interface OwnQuery {
  readonly option: string;
  /** The first branch with the query. */
  readonly from: number;
  /** Its own words for values that `--query-gpu` words otherwise. */
  readonly words: Readonly<Record<string, string>>;
}

/** Everything about one column, whose value is a number or a text. */
export interface Column<Value = string | number> {
  /** The first is queried first; if the driver refuses it, the next. */
  readonly names: readonly [FieldName, ...FieldName[]];
  /** As in `the driver answers [GPU is lost] for memory in use`. */
  readonly label: string;
  readonly role: Role;
  readonly shape: Shape & (Value extends number ? NumberShape : TextShape);
  /** A word that some branches print before the value and that is no part of it. */
  readonly prefix?: string;
  readonly ownQuery?: OwnQuery;
  readonly finding?: ColumnFinding;
}

/** In brackets, so that a union type of a reading is not distributed over its kinds. */
type ValueOf<R> = [R] extends [Reading<infer Value>] ? Value : never;
type HealthColumn = Column<string> & { readonly role: 'health'; readonly finding: ColumnFinding };

/** One column per reading, one reading per column; a column with a health reading has a finding. */
export type Columns = {
  readonly [R in keyof Readings]: R extends keyof HealthReadings
    ? HealthColumn
    : Column<ValueOf<Readings[R]>> & { readonly role: Exclude<Role, 'health'> };
};

/**
 * Error words that concern the whole card and not one reading: NVML's "GPU is lost", "GPU requires reset", an access that
 * the operating system blocks, and missing power.
 */
const OF_THE_CARD = /\bGPU\b|external power/i;

/**
 * Whether an error word in a column of this role makes its card unhealthy. In a display-only column, `[Unknown Error]`
 * affects only that value; "GPU is lost" concerns the card in any column.
 */
export function isErrorOfCard(role: Role, words: string): boolean {
  return role !== 'shown' || OF_THE_CARD.test(words);
}
