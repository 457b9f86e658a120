/** A request's wait in line, until it is served, its time is up, or its caller hangs up. */

import type { Lock, Turn, TurnQueue } from '../model/ports/lock.js';
import type { Meter } from '../model/ports/meter.js';
import type { Clock } from '../model/ports/outside.js';
import { refuse } from '../model/refuse.js';
import type { TurnJob, TurnResult } from './serve-batch.js';

export interface TakeTurnParts {
  readonly queue: TurnQueue<TurnJob, TurnResult>;
  readonly lock: Lock;
  readonly clock: Clock;
  readonly meter: Pick<Meter, 'phase'>;
}

/** `untilMs` is on the monotonic clock. */
export async function takeTurn(
  job: Omit<TurnJob, 'early'>,
  { queue, lock, clock, meter }: TakeTurnParts,
  untilMs: number,
): Promise<TurnResult> {
  const began = clock.monotonic();
  const out = new AbortController();
  const leave = (): void => out.abort();
  const callOff = clock.after(Math.max(0, untilMs - began), leave);
  job.gone.addEventListener('abort', leave, { once: true });
  try {
    const turn = await new Promise<Turn<TurnResult>>((resolve, reject) => {
      const early = (result: TurnResult): void =>
        resolve({ kind: 'served', result, waitedMs: clock.monotonic() - began });
      queue.join({ ...job, early }, out.signal).then(resolve, reject);
    });
    if (turn.kind === 'served') {
      meter.phase('lock', turn.waitedMs / 1000);
      return turn.result;
    }
    if (job.gone.aborted) return { kind: 'client_gone' };
    if (turn.kind === 'full') {
      return refuse('busy', { detail: `${queue.waiting} admissions are in line already; ask again in a moment` });
    }
    const waited = Math.round((clock.monotonic() - began) / 1000);
    return refuse('lock_unavailable', {
      detail: `the lock was not to be had within ${waited} s: ${lock.problem() ?? 'others were served first'}`,
    });
  } finally {
    callOff();
    job.gone.removeEventListener('abort', leave);
  }
}
