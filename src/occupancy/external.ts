/** Who uses a card besides the jobs, by processes, memory and pinned containers. */

import type { Finding, WarningReason } from '../model/card.js';
import type { ExternalUse, JudgedCard, JudgeRules } from '../model/occupancy.js';
import type { ComputeProcess, Snapshot } from '../model/snapshot.js';
import type { KnownCard } from './known-cards.js';

/** The detected use of one card. */
export interface Use {
  /** For a held card these include the job's own processes and memory: the driver does not tell them apart. */
  readonly external: ExternalUse | null;
  /** Null where the list is unavailable, or not available for this card. */
  readonly processes: number | null;
  readonly warnings: readonly Finding<WarningReason>[];
  readonly warned: Readonly<Partial<Record<WarningReason, boolean>>>;
}

/**
 * A process, memory at or above the limit, or a pinned container: each alone makes it used. Without the process list the
 * other two decide. With the check switched off, no card counts as used from outside.
 */
export function externalUse(
  card: KnownCard,
  look: Pick<Snapshot, 'processes' | 'unlisted'>,
  pinnedBy: readonly string[],
  rules: Pick<JudgeRules, 'checkExternal' | 'memoryBusyMib'>,
): Use {
  const processes = processesOn(card, look);
  if (!rules.checkExternal) {
    return { external: null, processes: processes?.length ?? null, warnings: [], warned: {} };
  }

  const memory = card.evidence.kind === 'row' ? card.evidence.row.readings.memoryUsedMib : null;
  const used = memory?.kind === 'value' ? memory.value : null;
  const busy = used !== null && used >= rules.memoryBusyMib;
  const inUse = busy || pinnedBy.length > 0 || (processes ?? []).length > 0;
  return {
    external: inUse
      ? {
          processes: (processes ?? []).map(({ pid, name, memoryMib }) => ({ pid, name, memoryMib })),
          memoryMib: busy ? used : null,
          containers: pinnedBy,
        }
      : null,
    processes: processes?.length ?? null,
    ...blindList(processes, used, busy),
  };
}

/**
 * Names the limit if only memory makes a card used: a display or a driver may keep more than that on an idle card, and the
 * reader must learn which setting decides.
 */
export function limitNotes(
  cards: readonly Pick<JudgedCard, 'state' | 'external'>[],
  { memoryBusyMib }: Pick<JudgeRules, 'memoryBusyMib'>,
): readonly string[] {
  const byMemoryAlone = cards.some(
    ({ state, external }) =>
      state === 'external' && external?.processes.length === 0 && external.containers.length === 0,
  );
  return byMemoryAlone
    ? [`memory in use counts at or above the limit of ${memoryBusyMib} MiB (TUNEPLANE_MEMORY_BUSY_MIB)`]
    : [];
}

/**
 * Null where processes could not be listed: the list is unavailable, or this card is missing, does not answer or has no
 * identity. A card that is unseen may still have processes listed.
 */
function processesOn(
  { uuid, evidence }: KnownCard,
  { processes, unlisted = [] }: Pick<Snapshot, 'processes' | 'unlisted'>,
): readonly ComputeProcess[] | null {
  if (processes.kind !== 'seen' || uuid === null) return null;
  const here = processes.value.filter((each) => each.uuid === uuid);
  if (here.length > 0) return here;
  const askedAbout = evidence.kind === 'unseen' || (evidence.kind === 'row' && evidence.row.uuid !== null);
  return askedAbout && !unlisted.includes(uuid) ? here : null;
}

/**
 * Memory in use without a listed process, as in a container without the host's pid namespace. A small process is then
 * invisible.
 * https://github.com/NVIDIA/nvidia-docker/issues/1460
 */
function blindList(
  processes: readonly ComputeProcess[] | null,
  used: number | null,
  busy: boolean,
): Pick<Use, 'warnings' | 'warned'> {
  if (processes === null || used === null) return { warnings: [], warned: {} };
  if (!busy || processes.length > 0) return { warnings: [], warned: { process_list_blind: false } };
  const detail = `${used} MiB are in use and the process list shows nobody: it may be blind here (host pid namespace?)`;
  return { warnings: [{ reason: 'process_list_blind', detail }], warned: { process_list_blind: true } };
}
