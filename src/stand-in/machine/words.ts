/**
 * Every word that a description may use. The types derive from these lists, so that the reader can name them in an error.
 */

/**
 * The kinds of query: `--query-gpu`, `--query-compute-apps`, `--query-remapped-rows`, `-L`, `topo -m`, help texts,
 * `--version`, all else.
 */
export const QUERY_KINDS = ['gpu', 'apps', 'remapped', 'list', 'topo', 'help', 'version', 'other'] as const;
export type QueryKind = (typeof QUERY_KINDS)[number];

/** Products with known readings. */
export const CARD_MODELS = ['H100', 'H200', 'A100', 'L40S', 'V100', 'T4', 'RTX 3090', 'RTX 4090', 'GB10'] as const;
export type CardModel = (typeof CARD_MODELS)[number];

/**
 * Why a card throttles its clocks; the names are those of the fields `clocks_event_reasons.*`, in the order of their bits.
 */
export const CLOCK_REASONS = [
  'gpu_idle',
  'applications_clocks_setting',
  'sw_power_cap',
  'hw_slowdown',
  'sync_boost',
  'sw_thermal_slowdown',
  'hw_thermal_slowdown',
  'hw_power_brake_slowdown',
] as const;
export type ClockReason = (typeof CLOCK_REASONS)[number];

/** The library's errors about a card; `driver-errors.ts` has the wording and exit code of each. */
export const CARD_ERRORS = [
  'lost',
  'reset_required',
  'unknown',
  'access_blocked',
  'no_permission',
  'insufficient_power',
  'not_found',
  'timeout',
  'inforom_corrupted',
  'driver_not_loaded',
] as const;
export type CardError = (typeof CARD_ERRORS)[number];

/** What is wrong with the machine; each but `inforom_corrupted` (which only the plain table shows) fails every query. */
export const MACHINE_FAULTS = [
  'driver_not_loaded',
  'library_mismatch',
  'no_library',
  'no_devices',
  'init_unknown_error',
  'init_gpu_lost',
  'init_access_blocked',
  'inforom_corrupted',
] as const;
export type MachineFault = (typeof MACHINE_FAULTS)[number];
