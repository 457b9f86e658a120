import type { CardUuid } from '../../model/card.js';
import type { ComputeProcess } from '../../model/snapshot.js';
import { clean, linesOf } from './cell.js';
import { readNumber, readUuid } from './column-shapes.js';
import { strayRemarks } from './stray-lines.js';

const SLICES = 'nvidia-smi lists processes on slices of divided cards (MIG), which count for no card';

/**
 * The process list, and how many rows report a card whose list the driver cannot read; `unlisted` are those that it names.
 */
export interface ParsedProcesses {
  readonly processes: readonly ComputeProcess[];
  readonly unreadable: number;
  readonly unlisted: readonly CardUuid[];
  /** Notes about lines that are no process on a card; for people. */
  readonly remarks: readonly string[];
}

/**
 * Parses `--query-compute-apps=gpu_uuid,pid,process_name,used_memory` from both ends, since a name may contain anything. A
 * card with an unreadable list has a row too: only a numeric pid is a process. A row with a MIG uuid (`MIG-…`) is a process
 * on a card with MIG, which is excluded as a whole: it is noted, and counts for no card.
 */
export function parseProcesses(text: string): ParsedProcesses {
  const processes: ComputeProcess[] = [];
  const unlisted: CardUuid[] = [];
  const strays: string[] = [];
  let slices = false;
  let unreadable = 0;
  for (const line of linesOf(text)) {
    const [first, second, ...rest] = line.split(',').map(clean);
    if (first === undefined || first === 'gpu_uuid' || /^No running processes/i.test(first)) continue;
    if (second === undefined) {
      strays.push(line);
      continue;
    }
    if (/^MIG-/i.test(first)) {
      slices = true;
      continue;
    }
    const uuid = readUuid(first);
    const pid = readNumber(second, 'whole_number');
    if (uuid === null || pid.kind !== 'value') {
      unreadable += 1;
      if (uuid !== null) unlisted.push(uuid);
      continue;
    }
    const memory = rest.length > 1 ? readNumber(rest.pop(), 'mib') : null;
    processes.push({
      uuid,
      pid: pid.value,
      name: clean(rest.join(', ')),
      memoryMib: memory?.kind === 'value' ? memory.value : null,
    });
  }
  return { processes, unreadable, unlisted, remarks: [...(slices ? [SLICES] : []), ...strayRemarks(strays)] };
}
