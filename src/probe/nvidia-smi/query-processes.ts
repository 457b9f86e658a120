import type { Clock } from '../../model/ports/outside.js';
import type { Probed } from '../../model/snapshot.js';
import { deadlineIn } from '../../time/deadline.js';
import type { ListCards } from './list-cards.js';
import { parseProcesses, type ParsedProcesses } from './parse-processes.js';
import type { ProcessSlot } from './process-slot.js';
import { createFallback, onlyOf } from './query-with-fallback.js';

/** The processes probe: who computes on which card, as far as this process's pid namespace shows. */
export function createQueryProcesses(
  slot: ProcessSlot,
  listCards: ListCards,
  clock: Clock,
  timeoutMs: number,
): () => Promise<Probed<ParsedProcesses>> {
  const ask = createFallback(slot, listCards, { args: query });
  return async () => {
    const deadline = deadlineIn(timeoutMs, clock);
    const answer = await ask(deadline);
    if (answer.kind !== 'answered') return answer.blind;
    return { kind: 'seen', value: parseProcesses(answer.stdout), tookMs: deadline.took() };
  };
}

function query(of: Parameters<typeof onlyOf>[0]): readonly string[] {
  const fields = '--query-compute-apps=gpu_uuid,pid,process_name,used_memory';
  return [...onlyOf(of), fields, '--format=csv,noheader,nounits'];
}
