/** Whether the driver can give the card at all: error words in its row, a complaint in its place, or nothing. */

import { isErrorOfCard } from '../model/column.js';
import { COLUMNS, READINGS } from '../model/columns.js';
import type { GpuRow } from '../model/snapshot.js';
import type { Verdict } from './column-findings.js';
import type { KnownCard } from './known-cards.js';
import { identityDenied, identityHidden } from './sight.js';

/** The two findings that come from how a card shows itself and not from what its columns say. */
export interface DriverFindings {
  readonly driver_error?: Verdict;
  readonly missing?: Verdict;
}

/**
 * Error words count in every column that is asked, those of health only while it is checked; in one that is only shown, those
 * that speak of the whole card (`isErrorOfCard`). A complaint about permissions hides a card and breaks nothing.
 */
export function driverFindings(card: KnownCard, checkHealth: boolean): DriverFindings {
  const { sight } = card;
  switch (sight.kind) {
    case 'row':
      // Of a short row nothing can be said, not even that it is well.
      return sight.row.short
        ? { missing: false }
        : { driver_error: errorWords(sight.row, checkHealth), missing: false };
    case 'broken':
      return sight.broken.denied ? { missing: false } : { driver_error: sight.broken.words, missing: false };
    case 'missing':
      return { missing: sight.detail };
    case 'unseen':
      return {};
    default:
      return sight satisfies never;
  }
}

function errorWords(row: GpuRow, checkHealth: boolean): Verdict {
  const labelsByWords = new Map<string, string[]>();
  for (const key of READINGS) {
    const { role, label } = COLUMNS[key];
    const reading = row.readings[key];
    if (reading.kind !== 'error' || !isErrorOfCard(role, reading.words) || (role === 'health' && !checkHealth))
      continue;
    labelsByWords.set(reading.words, [...(labelsByWords.get(reading.words) ?? []), label]);
  }
  const sentences = [...labelsByWords].map(([words, labels]) => `${words} for ${labels.join(', ')}`);
  if (sentences.length > 0) return `the driver answers ${sentences.join('; ')}`;
  return identityHidden(row) && !identityDenied(row) && 'the driver does not say which card this is';
}
