/** The columns about a card's health. */

import { CLOCK_REASONS, type ClockReason } from '../machine/words.js';
import { type Field, type Seen, active, enabled, fixed, reading, yes } from './field.js';

/** The fields about a card's health. */
export const HEALTH_FIELDS: readonly Field[] = [
  reading('gpu_recovery_action', ({ card }) => card.recovery_action, { from: 590 }),
  reading('reset_status.reset_required', ({ card }) => yes(card.reset_required), { from: 535, until: 569 }),
  reading('reset_status.drain_and_reset_recommended', ({ card }) => yes(card.drain_and_reset_recommended), {
    from: 535,
    until: 569,
  }),
  ...clockReasons('supported', ({ card }) => (card.clock_reasons === null ? null : '0x00000000000001FF')),
  ...clockReasons('active', ({ card }) => maskOf(card.clock_reasons)),
  ...CLOCK_REASONS.flatMap((reason) =>
    clockReasons(reason, ({ card }) => active(card.clock_reasons?.includes(reason))),
  ),
  ...['sw_power_cap', 'sync_boost', 'sw_thermal_slowdown', 'hw_thermal_slowdown', 'hw_power_brake_slowdown'].map(
    (reason) => reading(`clocks_event_reasons_counters.${reason}`, () => 0, { from: 590, unit: 'us' }),
  ),
  reading('ecc.mode.current', ({ card }) => enabled(card.ecc?.enabled)),
  reading('ecc.mode.pending', ({ card }) => enabled(card.ecc?.enabled)),
  ...eccCounters('corrected', 'volatile', (ecc) => [ecc.corrected_volatile, 0]),
  ...eccCounters('corrected', 'aggregate', (ecc) => [ecc.corrected_aggregate, 0]),
  ...eccCounters('uncorrected', 'volatile', (ecc) => [ecc.uncorrected_volatile, ecc.uncorrected_volatile_sram]),
  ...eccCounters('uncorrected', 'aggregate', (ecc) => [ecc.uncorrected_aggregate, ecc.uncorrected_volatile_sram]),
  reading(
    'ecc.errors.uncorrected.aggregate.sram.thresholdExceeded',
    ({ card }) => (card.ecc?.enabled === true ? 'No' : null),
    {
      from: 590,
    },
  ),
  reading('retired_pages.single_bit_ecc.count or retired_pages.sbe', ({ card }) => card.retired_pages?.sbe ?? null),
  reading('retired_pages.double_bit.count or retired_pages.dbe', ({ card }) => card.retired_pages?.dbe ?? null),
  reading('retired_pages.pending', ({ card }) => yes(card.retired_pages?.pending)),
  reading('remapped_rows.correctable or remapped_rows.sbe', (seen) => remapped(seen)?.correctable ?? null, {
    from: 590,
  }),
  reading('remapped_rows.uncorrectable or remapped_rows.dbe', (seen) => remapped(seen)?.uncorrectable ?? null, {
    from: 590,
  }),
  reading('remapped_rows.pending', (seen) => yes(remapped(seen)?.pending), { from: 590 }),
  reading('remapped_rows.failure', (seen) => yes(remapped(seen)?.failure), { from: 590 }),
  reading('remapped_rows.histogram.max', ({ card }) => (card.remapped_rows === null ? null : 2560), { from: 590 }),
  fixed(
    'fabric.state',
    ({ card, dialect }) => prefixed(dialect.fabricPrefix.state, card.fabric?.state, dialect.noFabric),
    {
      from: 535,
    },
  ),
  fixed(
    'fabric.status',
    ({ card, dialect }) => prefixed(dialect.fabricPrefix.status, card.fabric?.status, dialect.noFabric),
    {
      from: 535,
    },
  ),
  fixed('fabric.health.summary', () => 'N/A', { from: 590 }),
];

/** The remapped rows of a card; a card with MIG has none. */
export function remapped({ card }: Pick<Seen, 'card'>): Seen['card']['remapped_rows'] {
  return card.mig?.enabled === true ? null : card.remapped_rows;
}

/** Renamed on 530, where the old name was dropped; later branches accept both and print the new one in the heading. */
function clockReasons(reason: string, value: Field['value']): Field[] {
  const [old, today] = [`clocks_throttle_reasons.${reason}`, `clocks_event_reasons.${reason}`];
  return [
    reading(old, value, { until: 529 }),
    reading(today, value, { from: 530, until: 530 }),
    reading(`${today} or ${old}`, value, { from: 531 }),
  ];
}

function maskOf(reasons: readonly ClockReason[] | null): string | null {
  if (reasons === null) return null;
  const mask = CLOCK_REASONS.reduce((sum, reason, bit) => (reasons.includes(reason) ? sum + 2 ** bit : sum), 0);
  return `0x${mask.toString(16).toUpperCase().padStart(16, '0')}`;
}

/**
 * One counter for each part of the card; modern cards count device memory and SRAM, and have no value for the other parts.
 */
function eccCounters(
  what: 'corrected' | 'uncorrected',
  since: 'volatile' | 'aggregate',
  counted: (ecc: NonNullable<Seen['card']['ecc']>) => [total: number, sram: number],
): Field[] {
  const counter = (part: string, value: (total: number, sram: number) => number | null, from = 0): Field =>
    reading(
      `ecc.errors.${what}.${since}.${part}`,
      ({ card }) => (card.ecc?.enabled === true ? value(...counted(card.ecc)) : null),
      { from },
    );
  return [
    counter('device_memory', (total, sram) => total - sram),
    counter('dram', (total, sram) => total - sram, 450),
    ...['register_file', 'l1_cache', 'l2_cache', 'texture_memory', 'cbu'].map((part) => counter(part, () => null)),
    counter('sram', (_total, sram) => sram, 450),
    counter('total', (total) => total),
  ];
}

function prefixed(prefix: string, word: string | undefined, none: string | null): string | null {
  return word === undefined ? none : `${prefix}${word}`;
}
