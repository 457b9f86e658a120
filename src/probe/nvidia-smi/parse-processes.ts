import type { CardUuid } from '../../model/card.js';
import type { ComputeProcess } from '../../model/snapshot.js';
import { clean, linesOf } from './cell.js';
import { readNumber, readUuid } from './column-shapes.js';

/**
 * The process list, and how many rows report a card whose list the driver cannot read; `unlisted` are those that it names.
 */
export interface ParsedProcesses {
  readonly processes: readonly ComputeProcess[];
  readonly unreadable: number;
  readonly unlisted: readonly CardUuid[];
}

/**
 * Parses `--query-compute-apps=gpu_uuid,pid,process_name,used_memory` from both ends, since a name may contain anything. A
 * card with an unreadable list has a row too: only a numeric pid is a process.
 */
export function parseProcesses(text: string): ParsedProcesses {
  const processes: ComputeProcess[] = [];
  const unlisted: CardUuid[] = [];
  let unreadable = 0;
  for (const line of linesOf(text)) {
    const [first, second, ...rest] = line.split(',').map(clean);
    if (first === undefined || second === undefined || first === 'gpu_uuid') continue;
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
  return { processes, unreadable, unlisted };
}
