/** All queries to `nvidia-smi`, one method each. */

import { REMAPPED_ROWS } from '../../model/columns.js';
import type { Clock, Log } from '../../model/ports/outside.js';
import type { GpusSeen, Links, Probed } from '../../model/snapshot.js';
import { createListCards } from './list-cards.js';
import type { ParsedProcesses } from './parse-processes.js';
import { createProcessSlot, type ProcessSlot } from './process-slot.js';
import { createQueryFields } from './query-fields.js';
import { createQueryGpus, type CardsSeen } from './query-gpus.js';
import { createQueryProcesses } from './query-processes.js';
import { createRemappedRows } from './remapped-rows.js';
import { createTopology } from './topology.js';

/** The queries to `nvidia-smi`. Every answer comes within the time limit, and none is an exception. */
export interface NvidiaSmi {
  /** The cards, with health where it is checked. */
  gpus(): Promise<CardsSeen>;
  processes(): Promise<Probed<ParsedProcesses>>;
  /** The links between the cards just seen; never fails, and only the first call waits for a moment. */
  links(gpus: Probed<GpusSeen>): Promise<Links | null>;
}

export interface NvidiaSmiOptions {
  /** `TUNEPLANE_NVIDIA_SMI`: a path, or a name on PATH. */
  readonly program: string;
  /** The limit for one probe, including all repeated queries. */
  readonly timeoutMs: number;
  readonly checkHealth: boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** Builds the parts that query `nvidia-smi`, by running the program for each query. */
export function createNvidiaSmi(options: NvidiaSmiOptions): NvidiaSmi {
  const { program, clock, log } = options;
  return askThrough((question) => createProcessSlot(`nvidia-smi ${question}`, program, clock, log), options);
}

/** The same with process slots from elsewhere. Each kind of query has its own slot, with at most one process in it. */
export function askThrough(
  slot: (question: string) => ProcessSlot,
  { timeoutMs, checkHealth, clock, log }: Omit<NvidiaSmiOptions, 'program'>,
): NvidiaSmi {
  const listCards = createListCards(slot('-L'), clock);
  return {
    gpus: createQueryGpus({
      slot: slot('--query-gpu'),
      listCards,
      remappedRows: createRemappedRows(slot(REMAPPED_ROWS.option), clock, timeoutMs),
      fields: createQueryFields(checkHealth, log),
      clock,
      timeoutMs,
      checkHealth,
    }),
    processes: createQueryProcesses(slot('--query-compute-apps'), listCards, clock, timeoutMs),
    links: createTopology(slot('topo -m'), clock, log, timeoutMs).links,
  };
}
