import type { Clock } from '../model/ports/outside.js';
import { inTime } from '../time/in-time.js';
import { systemClock } from '../time/system-clock.js';
import { toDockerTrouble, type DockerTrouble } from './errors.js';

/** The result of one call to Docker. */
export type Asked<T> = { readonly kind: 'answer'; readonly value: T } | DockerTrouble;

/**
 * One call to Docker that ends within `limitMs`, the response's body included, and never throws. The signal closes the
 * call's connection; a call that ignores it (the peer cut the body short) is abandoned. A timeout does not undo the call:
 * Docker may still carry it out.
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
  return { kind: 'timeout', message: `no complete answer within ${limitMs} ms` };
}

async function settled<T>(call: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<Asked<T>> {
  try {
    return { kind: 'answer', value: await call(signal) };
  } catch (error) {
    return toDockerTrouble(error);
  }
}
