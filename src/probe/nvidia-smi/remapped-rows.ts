import type { CardIndex, CardUuid } from '../../model/card.js';
import type { Clock } from '../../model/ports/outside.js';
import type { GpuRow, Probed } from '../../model/snapshot.js';
import type { Deadline } from '../../time/deadline.js';
import { parseRemappedRows, type RemappedRows as OfOneCard } from './parse-nvidia-smi.js';
import { blindBecause, type Answer, type ProcessSlot } from './process-slot.js';
import { onlyOf } from './query-with-fallback.js';

/** What is known of the remapped rows of all cards. `refused`: the driver does not know the query, so no card can say. */
export type Remapped =
  | { readonly kind: 'known'; readonly byUuid: ReadonlyMap<CardUuid, OfOneCard> }
  | { readonly kind: 'refused' }
  | { readonly kind: 'blind'; readonly blind: Probed<never> & { kind: 'blind' } };

export interface RemappedRows {
  /** Asks, or gives the last answer when that is less than a minute old or the driver refused. `of`: the only cards to ask about, null for all. */
  now(of: readonly CardIndex[] | null, deadline: Deadline): Promise<Remapped>;
  /** The driver went away or is another one: what it said is worth nothing. */
  forget(): void;
}

/** They change rarely, and asking costs a process. */
const GOOD_FOR_MS = 60_000;
const QUERY = '--query-remapped-rows';

/** The query of its own that drivers before 590 have for remapped rows. */
export function createRemappedRows(slot: ProcessSlot, clock: Clock): RemappedRows {
  let last: { readonly askedAt: number; readonly remapped: Remapped } | null = null;
  return {
    now: async (of, deadline) => {
      if (last?.remapped.kind === 'refused') return last.remapped;
      if (last !== null && clock.monotonic() - last.askedAt < GOOD_FOR_MS) return last.remapped;
      const askedAt = clock.monotonic();
      const fields = `${QUERY}=gpu_uuid,remapped_rows.pending,remapped_rows.failure`;
      const answer = await slot.ask([...onlyOf(of), fields, '--format=csv,noheader,nounits'], deadline.left());
      last = { askedAt, remapped: toRemapped(answer, deadline) };
      return last.remapped;
    },
    forget: () => {
      last = null;
    },
  };
}

/** The rows with these readings in the place of columns that the driver does not have. */
export function withRemapped(rows: readonly GpuRow[], byUuid: ReadonlyMap<CardUuid, OfOneCard>): readonly GpuRow[] {
  return rows.map((row) => {
    const said = row.uuid === null ? undefined : byUuid.get(row.uuid);
    if (said === undefined) return row;
    const { rowRemapPending, rowRemapFailure } = row.health;
    return {
      ...row,
      health: {
        ...row.health,
        rowRemapPending: rowRemapPending.kind === 'absent' ? said.pending : rowRemapPending,
        rowRemapFailure: rowRemapFailure.kind === 'absent' ? said.failure : rowRemapFailure,
      },
    };
  });
}

function toRemapped(answer: Answer, deadline: Deadline): Remapped {
  if (answer.kind === 'exited' && answer.rc === 0) return { kind: 'known', byUuid: parseRemappedRows(answer.stdout) };
  if (answer.kind === 'exited' && isRefusal(answer)) return { kind: 'refused' };
  return { kind: 'blind', blind: blindBecause(answer, `nvidia-smi ${QUERY}`, deadline.took()) };
}

/** Exit code 2 for a field; before 450 the whole option is not recognized, with exit code 255. */
function isRefusal(answer: Answer & { kind: 'exited' }): boolean {
  return answer.rc === 2 || (answer.rc !== 0 && /is not recognized/i.test(answer.stdout));
}
