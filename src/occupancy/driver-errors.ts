/** Whether the driver can access the card at all: error words in its row, a message in its place, or nothing. */

import { isErrorOfCard } from '../model/column.js';
import { COLUMNS, READINGS } from '../model/columns.js';
import type { GpuRow } from '../model/snapshot.js';
import type { Verdict } from './column-findings.js';
import type { KnownCard } from './known-cards.js';
import { identityDenied, identityHidden, indexOfAnother, uuidUnfamiliar } from './visibility.js';

/** The two findings that come from whether and how a card is listed, not from its columns. */
export interface DriverFindings {
  readonly driver_error?: Verdict;
  readonly missing?: Verdict;
}

/**
 * Error words count in every queried column, those of health only while health is checked; in a display-only column, only
 * those that concern the whole card (`isErrorOfCard`). A permission error hides a card but does not make it faulty.
 */
export function driverFindings(card: KnownCard, checkHealth: boolean): DriverFindings {
  const { evidence } = card;
  switch (evidence.kind) {
    case 'row':
      // An incomplete row proves nothing, not even that the card is healthy.
      return evidence.row.short
        ? { missing: false }
        : { driver_error: errorWords(evidence.row, checkHealth), missing: false };
    case 'broken':
      return evidence.broken.denied ? { missing: false } : { driver_error: evidence.broken.words, missing: false };
    case 'missing':
      return { missing: evidence.detail };
    case 'unseen':
      return {};
    default:
      return evidence satisfies never;
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
  const excused = identityDenied(row) || uuidUnfamiliar(row) || (row.uuid !== null && indexOfAnother(row));
  return identityHidden(row) && !excused && 'the driver does not say which card this is';
}
