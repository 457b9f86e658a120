import type { Log } from '../../model/ports/outside.js';
import { refusedField } from './parse-nvidia-smi.js';

/** Which fields to ask a driver for. What it refuses is remembered until its version changes. */
export interface QueryFields {
  /** In the order to ask them; the name is last, since it may hold a comma. */
  list(): readonly string[];
  /** Takes note of a run that exited 2: true when a field was dropped, so that asking again may help. */
  readonly refused: (stdout: string) => boolean;
  /** A good run showed this version: under another than before, every field is tried again. */
  under(driverVersion: string | null): void;
}

/** Without these a row is nobody's: a driver that refuses one of them cannot be asked at all. */
const NEEDED = ['index', 'uuid'];
const PLAIN = [
  'pci.bus_id',
  'driver_version',
  'count',
  'memory.used',
  'memory.total',
  'persistence_mode',
  'mig.mode.current',
];
/** The columns that feed health findings; which branch knows which is in the notes on each. */
export const HEALTH_FIELDS = [
  'retired_pages.pending',
  'ecc.errors.uncorrected.volatile.total',
  // Known from 418 to 610, but for 530.
  'clocks_throttle_reasons.hw_slowdown',
  // From 590 on.
  'gpu_recovery_action',
  // From 535 to 565.
  'reset_status.reset_required',
  // From 535 on.
  'fabric.state',
  'fabric.status',
  // From 590 on; before that they have a query of their own.
  'remapped_rows.pending',
  'remapped_rows.failure',
] as const;

/** The same column under the name that other drivers give it. */
const OTHER_NAME: Readonly<Record<string, string>> = {
  'clocks_throttle_reasons.hw_slowdown': 'clocks_event_reasons.hw_slowdown',
};

/** The fields to ask; those of health only where it is checked. */
export function createQueryFields(checkHealth: boolean, log: Log): QueryFields {
  const all = [...NEEDED, ...PLAIN, ...(checkHealth ? HEALTH_FIELDS : []), 'name'];
  let asked = all;
  let refusedUnder: string | null = null;
  return {
    list: () => asked,
    refused: (stdout) => {
      const field = refusedField(stdout);
      if (field === null || NEEDED.includes(field) || !asked.includes(field)) return false;
      const other = OTHER_NAME[field];
      asked = asked.flatMap((each) => (each === field ? (other ?? []) : each));
      log.info(
        { field, insteadAsked: other ?? null },
        'the driver does not know this field; it is not asked again until the driver changes',
      );
      return true;
    },
    under: (driverVersion) => {
      if (driverVersion === null) return;
      if (refusedUnder !== null && driverVersion !== refusedUnder) asked = all;
      refusedUnder = driverVersion;
    },
  };
}
