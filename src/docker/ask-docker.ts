import type { Clock } from '../model/ports/outside.js';
import { inTime } from '../time/in-time.js';
import { systemClock } from '../time/system-clock.js';
import { toDockerTrouble, type DockerTrouble } from './errors.js';

/** What came of one call to Docker. */
export type Asked<T> = { readonly kind: 'answer'; readonly value: T } | DockerTrouble;

/**
 * One call to Docker that ends within `limitMs`, the answer's body included, and never throws. The signal ends the call's
 * connection; a call that does not heed it (a body cut short by the peer) is left behind. Giving up is not undoing: what
 * was asked may still happen.
 */
export async function askDocker<T>(
  limitMs: number,
  call: (signal: AbortSignal) => Promise<T>,
  clock: Pick<Clock, 'after'> = systemClock,
): Promise<Asked<T>> {
  const giveUp = new AbortController();
  const asked = await inTime(settled(call, giveUp.signal), limitMs, clock);
  if (asked !== null) return asked.value;
  giveUp.abort();
  return { kind: 'timeout', message: `no whole answer within ${limitMs} ms` };
}

async function settled<T>(call: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<Asked<T>> {
  try {
    return { kind: 'answer', value: await call(signal) };
  } catch (error) {
    return toDockerTrouble(error);
  }
}
