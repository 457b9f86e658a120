/** What can be said of a column of nvidia-smi: the words that the table in `columns` is written in. */

import type { HealthReason, WarningReason } from './card.js';
import type { HealthReadings, Reading, Readings } from './snapshot.js';

/** A name that a column is asked by, and the driver branches that take it; none left out means all from 418 to 610. */
export interface FieldName {
  readonly field: string;
  readonly from?: number;
  readonly until?: number;
  /** The one branch in between that does not take it. */
  readonly except?: number;
}

/**
 * What a column is asked for, and with it what an error word in it says (see `isErrorOfCard`).
 * `needed`: without it a row is nobody's, so a driver that refuses it cannot be asked at all.
 * `deciding`: whether the card is free rests on it.
 * `shown`: it is shown, or helps to tell cards apart.
 * `health`: it feeds a finding, and is asked only while health is checked.
 */
export type Role = 'needed' | 'deciding' | 'shown' | 'health';

/** What a value looks like; `probe/nvidia-smi/column-shapes` has the form of each. Other text in such a column is unreadable. */
export type NumberShape = 'whole_number' | 'mib';
export type TextShape = 'uuid' | 'bus_id' | 'version' | 'on_off' | 'yes_no' | 'active' | 'counter' | 'any_text';
export type Shape = NumberShape | TextShape;

/**
 * Which values of a column mean its finding; upper and lower case are the same.
 * `one_of`: those in `bad` do, those in `good` do not, and any other says nothing.
 * `all_but`: every value does, words of next year included, but for those in `good`; those in `silent` say nothing.
 * `above`: a number above this one does.
 */
export type Meaning =
  | { readonly kind: 'one_of'; readonly bad: readonly string[]; readonly good: readonly string[] }
  | { readonly kind: 'all_but'; readonly good: readonly string[]; readonly silent: readonly string[] }
  | { readonly kind: 'above'; readonly limit: number };

/** `unhealthy` takes the card out until the driver stops reporting it, `warning` is shown and leaves the card in use. */
type Named =
  | { readonly severity: 'unhealthy'; readonly reason: HealthReason }
  | { readonly severity: 'warning'; readonly reason: WarningReason };

/** What a column can say against its card. Two columns may feed one reason; the first that says something is told. */
export type ColumnFinding = Named & {
  readonly means: Meaning;
  /** The sentence for whoever has to act, made of the driver's word. */
  readonly detail: (word: string) => string;
  /** It counts only while another column says this word. */
  readonly onlyWhile?: { readonly reading: keyof Readings; readonly says: string };
  /** For the runbook: what it is, and what helps. */
  readonly what: string;
  readonly helps: string;
};

/** A query of its own in which drivers print a column that `--query-gpu` does not have yet. */
export interface OwnQuery {
  readonly option: string;
  /** First branch that has the query. */
  readonly from: number;
  /** Its own words for what `--query-gpu` says otherwise. */
  readonly words: Readonly<Record<string, string>>;
}

/** All that is known of one column, whose value is a number or a text. */
export interface Column<Value = string | number> {
  /** The first is asked first; where the driver refuses it, the next. */
  readonly names: readonly [FieldName, ...FieldName[]];
  /** As in `the driver answers [GPU is lost] for memory in use`. */
  readonly label: string;
  readonly role: Role;
  readonly shape: Shape & (Value extends number ? NumberShape : TextShape);
  /** A word that some branches print before the value, which is none of it. */
  readonly prefix?: string;
  readonly ownQuery?: OwnQuery;
  readonly finding?: ColumnFinding;
}

/** In brackets, so that a reading counts as a whole and not by each of its kinds. */
type ValueOf<R> = [R] extends [Reading<infer Value>] ? Value : never;
type HealthColumn = Column<string> & { readonly role: 'health'; readonly finding: ColumnFinding };

/** One column for each reading, one reading for each column; what feeds a health reading has a finding. */
export type Columns = {
  readonly [R in keyof Readings]: R extends keyof HealthReadings
    ? HealthColumn
    : Column<ValueOf<Readings[R]>> & { readonly role: Exclude<Role, 'health'> };
};

/**
 * Words that speak of the whole card and not of one reading: NVML's "GPU is lost", "GPU requires reset", an access that the
 * operating system blocks, and missing power.
 */
const OF_THE_CARD = /\bGPU\b|external power/i;

/**
 * Whether an error word in a column of this role makes its card unhealthy. What is only shown and answers `[Unknown Error]`
 * costs that value alone; a card that is lost is lost wherever the driver says so.
 */
export function isErrorOfCard(role: Role, words: string): boolean {
  return role !== 'shown' || OF_THE_CARD.test(words);
}
