/** The findings in the columns of a row, by the table in `model/columns`. */

import type { HealthReason, WarningReason } from '../model/card.js';
import type { Column, ColumnFinding, Meaning } from '../model/column.js';
import { COLUMNS, READINGS } from '../model/columns.js';
import type { Readings } from '../model/snapshot.js';

/** False: the finding does not apply. A text: it applies, and describes it for people. Undefined: unknown. */
export type Verdict = string | false | undefined;

/** A verdict for each reason on which the card has data. */
export type Verdicts = Partial<Record<HealthReason | WarningReason, Verdict>>;

/**
 * If two columns feed one reason, the first with the finding counts; if neither has it, one readable column is enough to say
 * so.
 */
export function columnFindings(readings: Readings, checkHealth: boolean): Verdicts {
  const verdicts: Verdicts = {};
  for (const reading of READINGS) {
    const { finding, role } = COLUMNS[reading];
    if (finding === undefined || (role === 'health' && !checkHealth)) continue;
    const before = verdicts[finding.reason];
    if (typeof before !== 'string') verdicts[finding.reason] = verdictOf(finding, reading, readings) ?? before;
  }
  return verdicts;
}

function verdictOf(finding: ColumnFinding, reading: keyof Readings, readings: Readings): Verdict {
  const word = wordOf(reading, readings);
  const { onlyWhile } = finding;
  if (word === null) return undefined;
  if (onlyWhile !== undefined && !isOneOf([onlyWhile.says], wordOf(onlyWhile.reading, readings))) return undefined;
  const bad = isBad(finding.means, word);
  return bad === true ? finding.detail(word) : bad;
}

/** The value without the prefix that some branches print; null where the column says nothing. */
function wordOf(key: keyof Readings, readings: Readings): string | null {
  const reading = readings[key];
  const { prefix }: Column = COLUMNS[key];
  if (reading.kind !== 'value') return null;
  const word = String(reading.value);
  const bare = prefix !== undefined && word.toLowerCase().startsWith(`${prefix} `) ? word.slice(prefix.length) : word;
  return bare.trim() === '' ? null : bare.trim();
}

/** Undefined where the value means neither. */
function isBad(means: Meaning, word: string): boolean | undefined {
  switch (means.kind) {
    case 'one_of':
      return isOneOf(means.bad, word) || (isOneOf(means.good, word) ? false : undefined);
    case 'all_but':
      return isOneOf(means.silent, word) ? undefined : !isOneOf(means.good, word);
    case 'above':
      return /^\d+$/.test(word) ? Number(word) > means.limit : undefined;
    default:
      return means satisfies never;
  }
}

function isOneOf(words: readonly string[], word: string | null): boolean {
  return words.some((each) => each.toLowerCase() === word?.toLowerCase());
}
