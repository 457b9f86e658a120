/** Whether the driver can give the card at all: error words in its row, a complaint in its place, or nothing. */

import type { GpuRow, HealthReadings } from '../model/snapshot.js';
import type { KnownCard } from './known-cards.js';
import { identityDenied, identityHidden } from './sight.js';

/** False: it does not hold. A text: it holds, in words for a person. Undefined: the card cannot say. */
export type Verdict = string | false | undefined;

/** The two findings that come from how a card shows itself and not from what its columns say. */
export interface DriverFindings {
  readonly driver_error?: Verdict;
  readonly missing?: Verdict;
}

/**
 * Error words count in the columns that decide something: uuid, index, memory in use, MIG, and health while it is checked.
 * In a column that feeds a gauge they cost that gauge alone. A complaint about permissions hides a card and breaks nothing.
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
  const deciding = {
    'memory in use': row.memoryUsedMib,
    'MIG mode': row.migMode,
    ...(checkHealth ? healthColumns(row.health) : {}),
  };
  const columnsByWords = new Map<string, string[]>();
  for (const [column, reading] of Object.entries(deciding)) {
    if (reading.kind !== 'error') continue;
    columnsByWords.set(reading.words, [...(columnsByWords.get(reading.words) ?? []), column]);
  }
  const sentences = [...columnsByWords].map(([words, columns]) => `${words} for ${columns.join(', ')}`);
  if (sentences.length > 0) return `the driver answers ${sentences.join('; ')}`;
  return identityHidden(row) && !identityDenied(row) && 'the driver does not say which card this is';
}

function healthColumns(health: HealthReadings) {
  return {
    'retired pages': health.retiredPagesPending,
    'ECC errors': health.eccUncorrected,
    'hardware slowdown': health.hwSlowdown,
    'row remapping failure': health.rowRemapFailure,
    'row remapping pending': health.rowRemapPending,
    'recovery action': health.recoveryAction,
    'reset required': health.resetRequired,
    'fabric state': health.fabricState,
    'fabric status': health.fabricStatus,
  };
}
