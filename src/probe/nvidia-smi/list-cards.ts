/** Runs `nvidia-smi -L`, the only command that names the cards on which a query fails. */

import type { Clock } from '../../model/ports/outside.js';
import type { Deadline } from '../../time/deadline.js';
import { inTime } from '../../time/in-time.js';
import { parseList, type Listed } from './parse-list.js';
import type { ProcessSlot } from './process-slot.js';

/** The cards that `nvidia-smi -L` lists as working. Null where it did not run in time, or its output was incomplete. */
export type ListCards = (deadline: Deadline) => Promise<Listed | null>;

/**
 * `-L` continues after a broken card and exits with that card's code, so its exit code means nothing. Concurrent callers
 * share one run.
 */
export function createListCards(slot: ProcessSlot, clock: Clock): ListCards {
  let running: Promise<Listed | null> | null = null;
  return async (deadline) => {
    running ??= list(slot, deadline.left()).finally(() => {
      running = null;
    });
    const mine = running;
    return (await inTime(mine, deadline.left(), clock))?.value ?? null;
  };
}

async function list(slot: ProcessSlot, timeoutMs: number): Promise<Listed | null> {
  if (timeoutMs === 0) return null;
  const answer = await slot.ask(['-L'], timeoutMs);
  return answer.kind === 'exited' ? parseList(answer.stdout) : null;
}

/**
 * Whether `-L` can add anything to a run that ended like this. Without a driver, a library, a card or a valid query it would
 * fail the same way, and only cost time. Exit code 6 alone does not tell: up to 470 a card that is not found ends a query
 * with it.
 */
export function listMayHelp(rc: number, stdout: string): boolean {
  return ![2, 9, 12, 18].includes(rc) && !/Failed to initialize NVML|No devices were found/i.test(stdout);
}
