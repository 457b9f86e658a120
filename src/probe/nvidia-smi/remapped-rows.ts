/** The remapped rows, for which drivers before 590 have a separate query. */

import type { CardIndex } from '../../model/card.js';
import { REMAPPED_ROWS } from '../../model/columns.js';
import type { Clock } from '../../model/ports/outside.js';
import type { GpuRow, Probed, Readings } from '../../model/snapshot.js';
import type { Deadline } from '../../time/deadline.js';
import { parseRemappedRows, REMAPPED, REMAPPED_FIELDS, type RemappedByUuid } from './parse-remapped-rows.js';
import { blindBecause, type Answer, type ProcessSlot } from './process-slot.js';
import { onlyOf } from './query-with-fallback.js';

/**
 * The remapped rows of all cards, as far as known. `refused`: the driver does not know the query, so nothing is known of any
 * card.
 */
export type Remapped =
  | { readonly kind: 'known'; readonly byUuid: RemappedByUuid }
  | { readonly kind: 'refused' }
  | { readonly kind: 'blind'; readonly blind: Probed<never> & { kind: 'blind' } };

export interface RemappedRows {
  /**
   * Queries, or returns the last answer if it is less than a minute old or the driver refused. `of`: the only cards to
   * query, null for all.
   */
  now(of: readonly CardIndex[] | null, deadline: Deadline): Promise<Remapped>;
  /** The driver is gone or has changed: discards the last answer. */
  forget(): void;
}

/** They rarely change, and a query costs a process. */
const GOOD_FOR_MS = 60_000;

/** The separate query of drivers before 590 for remapped rows. */
export function createRemappedRows(slot: ProcessSlot, clock: Clock): RemappedRows {
  let last: { readonly askedAt: number; readonly remapped: Remapped } | null = null;
  return {
    now: async (of, deadline) => {
      if (last?.remapped.kind === 'refused') return last.remapped;
      if (last !== null && clock.monotonic() - last.askedAt < GOOD_FOR_MS) return last.remapped;
      const askedAt = clock.monotonic();
      const fields = ['gpu_uuid', ...REMAPPED_FIELDS].join(',');
      const query = [...onlyOf(of), `${REMAPPED_ROWS.option}=${fields}`, '--format=csv,noheader,nounits'];
      const answer = await slot.ask(query, deadline.left());
      last = { askedAt, remapped: toRemapped(answer, deadline) };
      return last.remapped;
    },
    forget: () => {
      last = null;
    },
  };
}

/** The rows with these readings in the place of columns that the driver does not have. */
export function withRemapped(rows: readonly GpuRow[], byUuid: RemappedByUuid): readonly GpuRow[] {
  return rows.map((row) => {
    const said = row.uuid === null ? undefined : byUuid.get(row.uuid);
    return said === undefined ? row : { ...row, readings: { ...row.readings, ...lackingIn(row.readings, said) } };
  });
}

function lackingIn(readings: Readings, said: Partial<Readings>): Partial<Readings> {
  const lacking = REMAPPED.filter((reading) => readings[reading].kind === 'absent');
  return Object.fromEntries(lacking.map((reading) => [reading, said[reading]]));
}

function toRemapped(answer: Answer, deadline: Deadline): Remapped {
  if (answer.kind === 'exited' && answer.rc === 0) return { kind: 'known', byUuid: parseRemappedRows(answer.stdout) };
  if (answer.kind === 'exited' && isRefusal(answer)) return { kind: 'refused' };
  return { kind: 'blind', blind: blindBecause(answer, `nvidia-smi ${REMAPPED_ROWS.option}`, deadline.took()) };
}

/** Exit code 2 for a field; before 450 the whole option is unknown, with exit code 255. */
function isRefusal(answer: Answer & { kind: 'exited' }): boolean {
  return answer.rc === 2 || (answer.rc !== 0 && /is not recognized/i.test(answer.stdout));
}
