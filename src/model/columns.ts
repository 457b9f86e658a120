/**
 * Every column of nvidia-smi that the gate queries, defined once: query, parser, judge and runbook derive from this table,
 * and a test compares the stand-in, which follows the real program and not this table, with it. Names and branches: the help
 * texts (`--help-query-gpu`) and answers of NVIDIA's own program, branches 418 to 610.
 */

import type { Columns, Meaning, OwnQuery } from './column.js';
import type { Readings } from './snapshot.js';

/** `Yes` and `No` in `--query-gpu`, `1` and `0` in the separate queries. */
const YES: Meaning = { kind: 'one_of', bad: ['Yes', '1'], good: ['No', '0'] };
/** Where drivers before 590 print the remapped rows. */
export const REMAPPED_ROWS: OwnQuery = { option: '--query-remapped-rows', from: 450, words: { '0': 'No', '1': 'Yes' } };

/** In query order. The name is last: it may contain a comma, and takes the rest of the row. */
export const COLUMNS: Columns = {
  index: { names: [{ field: 'index' }], label: 'index', role: 'needed', shape: 'whole_number' },
  uuid: { names: [{ field: 'uuid' }], label: 'uuid', role: 'needed', shape: 'uuid' },
  pciBusId: { names: [{ field: 'pci.bus_id' }], label: 'bus address', role: 'shown', shape: 'bus_id' },
  driverVersion: { names: [{ field: 'driver_version' }], label: 'driver version', role: 'shown', shape: 'version' },
  count: { names: [{ field: 'count' }], label: 'number of cards', role: 'shown', shape: 'whole_number' },
  memoryUsedMib: { names: [{ field: 'memory.used' }], label: 'memory in use', role: 'deciding', shape: 'mib' },
  memoryTotalMib: { names: [{ field: 'memory.total' }], label: 'memory size', role: 'shown', shape: 'mib' },
  persistenceMode: {
    names: [{ field: 'persistence_mode' }],
    label: 'persistence mode',
    role: 'shown',
    shape: 'on_off',
  },
  // For display, and to detect a held card that is idle; they decide nothing.
  utilizationPercent: { names: [{ field: 'utilization.gpu' }], label: 'utilisation', role: 'shown', shape: 'percent' },
  temperatureCelsius: { names: [{ field: 'temperature.gpu' }], label: 'temperature', role: 'shown', shape: 'celsius' },
  powerWatts: { names: [{ field: 'power.draw' }], label: 'power draw', role: 'shown', shape: 'watts' },
  migMode: { names: [{ field: 'mig.mode.current', from: 450 }], label: 'MIG mode', role: 'deciding', shape: 'on_off' },
  // `Prohibited` excludes a card (`occupancy/exclusions`): no program can open a context on it.
  computeMode: {
    names: [{ field: 'compute_mode' }],
    label: 'compute mode',
    role: 'deciding',
    shape: 'compute_mode',
    finding: {
      severity: 'warning',
      reason: 'exclusive_process',
      means: { kind: 'one_of', bad: ['Exclusive_Process', 'Exclusive_Thread'], good: ['Default'] },
      detail: (mode) =>
        `its compute mode is ${mode}: one process at a time can use it, so a job of several fails on it`,
      what: 'the compute mode lets one process at a time use the card',
      helps: '`nvidia-smi -i INDEX -c DEFAULT`, unless it is meant',
    },
  },
  retiredPagesPending: {
    names: [{ field: 'retired_pages.pending' }],
    label: 'retired pages',
    role: 'health',
    shape: 'yes_no',
    finding: {
      severity: 'unhealthy',
      reason: 'retired_pages_pending',
      means: YES,
      detail: () => 'retired pages wait for a reboot or reset',
      what: 'pages wait to be retired (before Ampere)',
      helps: 'reset or reboot',
    },
  },
  eccUncorrected: {
    names: [{ field: 'ecc.errors.uncorrected.volatile.total' }],
    label: 'ECC errors',
    role: 'health',
    shape: 'counter',
    finding: {
      severity: 'unhealthy',
      reason: 'ecc_uncorrected',
      means: { kind: 'above', limit: 0 },
      detail: (errors) =>
        `${Number(errors)} uncorrected ECC error${Number(errors) === 1 ? '' : 's'} since the driver was loaded`,
      what: 'uncorrected memory errors since the driver was loaded',
      helps: 'reset the card; again soon: exchange it',
    },
  },
  hwSlowdown: {
    // Branch 530 dropped the old name; later ones accept both.
    names: [
      { field: 'clocks_throttle_reasons.hw_slowdown', except: 530 },
      { field: 'clocks_event_reasons.hw_slowdown', from: 530 },
    ],
    label: 'hardware slowdown',
    role: 'health',
    shape: 'active',
    finding: {
      severity: 'unhealthy',
      reason: 'hw_slowdown',
      means: { kind: 'one_of', bad: ['Active'], good: ['Not Active'] },
      detail: () => 'the hardware slows itself down (heat or power)',
      what: 'the hardware slows itself down: heat or power',
      helps: 'cooling, power supply, cables',
    },
  },
  recoveryAction: {
    names: [{ field: 'gpu_recovery_action', from: 590 }],
    label: 'recovery action',
    role: 'health',
    shape: 'any_text',
    finding: {
      severity: 'unhealthy',
      reason: 'recovery_action',
      means: { kind: 'all_but', good: ['None'], silent: [] },
      detail: (action) => `the driver asks for: ${action}`,
      what: 'the driver asks for a reset, a reboot or a drain',
      helps: 'do what it asks',
    },
  },
  resetRequired: {
    names: [{ field: 'reset_status.reset_required', from: 535, until: 565 }],
    label: 'reset required',
    role: 'health',
    shape: 'yes_no',
    finding: {
      severity: 'unhealthy',
      reason: 'reset_required',
      means: YES,
      detail: () => 'the driver says that it requires a reset',
      what: 'the driver asks for a reset',
      helps: 'do what it asks',
    },
  },
  // Only NVSwitch machines have a fabric; everywhere else `[N/A]` or `Not Supported` is normal.
  fabricState: {
    names: [{ field: 'fabric.state', from: 535 }],
    label: 'fabric state',
    role: 'health',
    shape: 'any_text',
    // A mistake of branches 535 to 555: `state  Completed`.
    prefix: 'state',
    finding: {
      severity: 'unhealthy',
      reason: 'fabric',
      means: { kind: 'all_but', good: ['Completed'], silent: ['Not Supported', 'N/A', '[N/A]'] },
      detail: (state) => `the fabric is not ready: ${state}`,
      what: 'the NVSwitch fabric did not come up',
      helps: '`systemctl status nvidia-fabricmanager`',
    },
  },
  fabricStatus: {
    names: [{ field: 'fabric.status', from: 535 }],
    label: 'fabric status',
    role: 'health',
    shape: 'any_text',
    prefix: 'status',
    finding: {
      severity: 'unhealthy',
      reason: 'fabric',
      means: { kind: 'all_but', good: ['Success'], silent: ['Not Supported', 'N/A', '[N/A]'] },
      // NVML says to read it only if the state is completed.
      onlyWhile: { reading: 'fabricState', says: 'Completed' },
      detail: (status) => `the fabric came up with: ${status}`,
      what: 'the NVSwitch fabric came up with an error',
      helps: '`systemctl status nvidia-fabricmanager`',
    },
  },
  rowRemapPending: {
    names: [{ field: 'remapped_rows.pending', from: 590 }],
    label: 'row remapping pending',
    role: 'health',
    shape: 'yes_no',
    ownQuery: REMAPPED_ROWS,
    finding: {
      severity: 'warning',
      reason: 'row_remap_pending',
      means: YES,
      detail: () => 'a remapped row takes effect at the next reset',
      what: 'a bad row is remapped at the next reset',
      helps: 'nothing at once; reset when the card is idle',
    },
  },
  rowRemapFailure: {
    names: [{ field: 'remapped_rows.failure', from: 590 }],
    label: 'row remapping failure',
    role: 'health',
    shape: 'yes_no',
    ownQuery: REMAPPED_ROWS,
    finding: {
      severity: 'unhealthy',
      reason: 'row_remap_failure',
      means: YES,
      detail: () => 'remapping a row failed: the card must be replaced',
      what: 'a bad row could not be remapped',
      helps: 'exchange it',
    },
  },
  name: { names: [{ field: 'name' }], label: 'name', role: 'shown', shape: 'any_text' },
};

/** The readings in the order of their columns. */
export const READINGS = Object.keys(COLUMNS) as readonly (keyof Readings)[];

/** The reading that a field feeds, under any of its names; null for a field that is not in the table. */
export function readingOf(field: string): keyof Readings | null {
  return READINGS.find((reading) => COLUMNS[reading].names.some((name) => name.field === field)) ?? null;
}
