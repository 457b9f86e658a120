/** Asks `nvidia-smi -L`, which alone names the cards that a query fails on. */

import type { Clock } from '../../model/ports/outside.js';
import type { Deadline } from '../../time/deadline.js';
import { inTime } from '../../time/in-time.js';
import { parseList, type Listed } from './parse-list.js';
import type { ProcessSlot } from './process-slot.js';

/** Asks `nvidia-smi -L` which cards answer. Null where it could not be asked in time, or was cut short. */
export type ListCards = (deadline: Deadline) => Promise<Listed | null>;

/**
 * `-L` goes on after a broken card and exits with its code, so its exit code says nothing. Whoever asks while it runs gets
 * the same answer.
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
 * Whether `-L` can say more than a run that ended so. With no driver, no library, no card or no right question it would fail
 * the same way, and only cost time. Exit code 6 alone does not tell: up to 470 a card that is not found ends a query with it.
 */
export function listMayHelp(rc: number, stdout: string): boolean {
  return ![2, 9, 12, 18].includes(rc) && !/Failed to initialize NVML|No devices were found/i.test(stdout);
}
