import type { CardUuid } from '../model/card.js';
import type { CardStore } from '../model/ports/card-store.js';
import type { ComputeProcess, ContainersSeen, Links, Off, Probed, Snapshot } from '../model/snapshot.js';
import { remember } from './inventory.js';
import type { KernelLog } from './kernel-log/kernel-log.js';
import type { ParsedProcesses } from './nvidia-smi/parse-processes.js';
import type { CardsSeen } from './nvidia-smi/query-gpus.js';
import type { StuckRemovals } from './stuck-removals.js';

/** What the parts of a look have answered so far; undefined for those that have not. */
export interface Said {
  cards?: CardsSeen;
  processes?: Probed<ParsedProcesses> | Off;
  docker?: Probed<ContainersSeen>;
  links?: Links | null;
}

/** The time of the look, and what is known besides. */
export interface Around {
  readonly cardStore: CardStore;
  readonly checkHealth: boolean;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly tookMs: number;
  readonly stuckRemovals: StuckRemovals;
  readonly kernelLog: Pick<KernelLog, 'look'>;
  readonly failedStarts: ReadonlyMap<CardUuid, number>;
}

/**
 * An immutable snapshot of the answers so far; parts without an answer are blind by `timeout`. Lists that the books own are
 * not frozen, since their owners go on changing them.
 * own are not frozen, since their owners go on writing them.
 */
export function assemble(said: Said, around: Around): Snapshot {
  const silent = noAnswer(around.tookMs);
  const gpus = said.cards?.gpus ?? silent;
  const health = said.cards?.health ?? (around.checkHealth ? silent : { kind: 'off' });
  const remembered = remember(around.cardStore.remembered(), gpus);
  return Object.freeze({
    startedAtMs: around.startedAtMs,
    endedAtMs: around.endedAtMs,
    gpus: deepFreeze(gpus),
    processes: deepFreeze(toProcesses(said.processes ?? silent, gpus)),
    unlisted: said.processes?.kind === 'seen' ? deepFreeze(said.processes.value.unlisted) : [],
    processRemarks: said.processes?.kind === 'seen' ? deepFreeze(said.processes.value.remarks) : [],
    health: deepFreeze(health),
    docker: said.docker ?? silent,
    stuckRemovals: around.stuckRemovals(said.docker ?? silent),
    links: said.links ?? null,
    ...deepFreeze(around.kernelLog.look(remembered)),
    remembered,
    exclusions: around.cardStore.exclusions(),
    failedStarts: around.failedStarts,
  });
}

/** If the driver can read the list of no card, that is not an empty list. */
function toProcesses(
  processes: Probed<ParsedProcesses> | Off,
  gpus: Snapshot['gpus'],
): Probed<readonly ComputeProcess[]> | Off {
  if (processes.kind !== 'seen') return processes;
  const { value, tookMs } = processes;
  const cards = gpus.kind === 'seen' ? gpus.value.rows.length : Number.POSITIVE_INFINITY;
  if (value.processes.length > 0 || value.unreadable === 0 || value.unreadable < cards) {
    return { kind: 'seen', value: value.processes, tookMs };
  }
  return { kind: 'blind', why: 'unavailable', detail: 'the driver can list the processes of no card', tookMs };
}

function noAnswer(afterMs: number): Probed<never> & { kind: 'blind' } {
  return {
    kind: 'blind',
    why: 'timeout',
    detail: `no answer after ${afterMs} ms; it is still being waited for`,
    tookMs: afterMs,
  };
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part);
  return value;
}
