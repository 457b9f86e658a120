/** What the driver's health columns mean: findings that take a card out, and warnings that do not. */

import { HEALTH_REASONS, type Finding, type HealthReason, type WarningReason } from '../model/card.js';
import type { HealthReadings, Reading } from '../model/snapshot.js';
import { driverFindings, type Verdict } from './driver-words.js';
import type { KnownCard } from './known-cards.js';

/** The health of one card. A reason that the card cannot speak of is in neither record. */
export interface Health {
  readonly unhealthy: readonly Finding<HealthReason>[];
  readonly warnings: readonly Finding<WarningReason>[];
  readonly health: Readonly<Partial<Record<HealthReason, boolean>>>;
  readonly warned: Readonly<Partial<Record<WarningReason, boolean>>>;
}

/**
 * Judged by this look alone, so every finding clears by itself. With the checks off the columns count for nothing; a card
 * that is missing or that the driver answers with error words stays unhealthy, since nothing can run on it.
 */
export function healthOf(card: KnownCard, checkHealth: boolean): Health {
  const row = card.sight.kind === 'row' && !card.sight.row.short ? card.sight.row : null;
  const columns = checkHealth && row !== null ? ofColumns(row.health) : {};
  const says: Says = { ...columns, ...driverFindings(card, checkHealth) };
  const pending = columns.row_remap_pending;
  return {
    unhealthy: HEALTH_REASONS.flatMap((reason) => finding(reason, says[reason])),
    warnings: finding('row_remap_pending', pending),
    health: Object.fromEntries(
      HEALTH_REASONS.filter((reason) => says[reason] !== undefined).map((reason) => [reason, says[reason] !== false]),
    ),
    warned: pending === undefined ? {} : { row_remap_pending: pending !== false },
  };
}

type Says = Partial<Record<HealthReason | WarningReason, Verdict>>;

function ofColumns(readings: HealthReadings): Says {
  return {
    retired_pages_pending: yesOrNo(readings.retiredPagesPending, 'retired pages wait for a reboot or reset'),
    ecc_uncorrected: eccErrors(readings.eccUncorrected),
    hw_slowdown: slowdown(readings.hwSlowdown),
    row_remap_failure: yesOrNo(readings.rowRemapFailure, 'remapping a row failed: the card is done for'),
    row_remap_pending: yesOrNo(readings.rowRemapPending, 'a remapped row takes effect at the next reset'),
    recovery_action: recovery(readings.recoveryAction),
    reset_required: yesOrNo(readings.resetRequired, 'the driver says that it requires a reset'),
    fabric: fabric(readings.fabricState, readings.fabricStatus),
  };
}

/** `Yes` and `No` in `--query-gpu`, `1` and `0` in `--query-remapped-rows`. */
function yesOrNo(reading: Reading<string>, words: string): Verdict {
  if (reading.kind !== 'value') return undefined;
  if (/^(?:yes|1)$/i.test(reading.value)) return words;
  return /^(?:no|0)$/i.test(reading.value) ? false : undefined;
}

function eccErrors(reading: Reading<string>): Verdict {
  if (reading.kind !== 'value' || !/^\d+$/.test(reading.value)) return undefined;
  const errors = Number(reading.value);
  return errors > 0 && `${errors} uncorrected ECC error${errors === 1 ? '' : 's'} since the driver was loaded`;
}

function slowdown(reading: Reading<string>): Verdict {
  if (reading.kind !== 'value') return undefined;
  if (/^active$/i.test(reading.value)) return 'the hardware slows itself down (heat or power)';
  return /^not active$/i.test(reading.value) ? false : undefined;
}

/** Anything but `None` asks for an action, words that are not known yet included. */
function recovery(reading: Reading<string>): Verdict {
  if (reading.kind !== 'value') return undefined;
  return !/^none$/i.test(reading.value) && `the driver asks for: ${reading.value}`;
}

/**
 * Only NVSwitch machines have a fabric; everywhere else the columns say `[N/A]` or `Not Supported`. Drivers 535 to 555 print
 * `state  Completed` and `status Success` (a slip of the program).
 */
function fabric(state: Reading<string>, status: Reading<string>): Verdict {
  const words = { state: fabricWord(state), status: fabricWord(status) };
  if (words.state === null) return undefined;
  if (!/^completed$/i.test(words.state)) return `the fabric is not ready: ${words.state}`;
  return words.status !== null && !/^success$/i.test(words.status) && `the fabric came up with: ${words.status}`;
}

function fabricWord(reading: Reading<string>): string | null {
  const word = reading.kind === 'value' ? reading.value.replace(/^(?:state|status)\s+/i, '').trim() : '';
  return word === '' || /^(?:not supported|\[?n\/a\]?)$/i.test(word) ? null : word;
}

function finding<Reason extends string>(reason: Reason, verdict: Verdict): Finding<Reason>[] {
  return typeof verdict === 'string' ? [{ reason, detail: verdict }] : [];
}
