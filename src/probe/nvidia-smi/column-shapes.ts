/** Whether the columns of a row stand where they were asked for. */

/**
 * True for a row with more commas than columns whose cells do not look like their columns: the comma was not in the name, and
 * every column after it has moved. Read by position, the count of cards would be the memory in use. `cells` as split at every
 * comma. A name with commas alone moves nothing, being last.
 */
export function isOutOfPlace(cells: readonly string[], fields: readonly string[]): boolean {
  return cells.length > fields.length && fields.some((field, at) => !looksLike(field, cells[at] ?? ''));
}

/** What each column looks like when it says something; a column that is not here may say anything. */
const SHAPES: Readonly<Record<string, RegExp>> = {
  index: /^\d+$/,
  uuid: /^GPU-/i,
  'pci.bus_id': /^[0-9a-f]+:[0-9a-f]+:[0-9a-f]+\.[0-9a-f]+$/i,
  driver_version: /^\d+(?:\.\d+)+$/,
  count: /^\d+$/,
  'memory.used': /^\d+(?: MiB)?$/,
  'memory.total': /^\d+(?: MiB)?$/,
  persistence_mode: /^(?:en|dis)abled$/i,
  'mig.mode.current': /^(?:en|dis)abled$/i,
  'retired_pages.pending': /^(?:yes|no)$/i,
  'ecc.errors.uncorrected.volatile.total': /^\d+$/,
  'clocks_throttle_reasons.hw_slowdown': /^(?:not )?active$/i,
  'clocks_event_reasons.hw_slowdown': /^(?:not )?active$/i,
  'reset_status.reset_required': /^(?:yes|no)$/i,
  'remapped_rows.pending': /^(?:yes|no|0|1)$/i,
  'remapped_rows.failure': /^(?:yes|no|0|1)$/i,
};

/** Words in brackets, `N/A` and `ERR!` stand in any column. */
function looksLike(field: string, cell: string): boolean {
  return /^\[.*\]$|^N\/A$|^ERR!$/.test(cell) || (SHAPES[field]?.test(cell) ?? true);
}
