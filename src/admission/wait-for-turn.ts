/** A request's wait in the queue for the lock, until it is served, times out, or its caller hangs up. */

import type { Lock, TurnQueue } from '../model/ports/lock.js';
import type { Meter } from '../model/ports/meter.js';
import type { Clock } from '../model/ports/outside.js';
import { refuse } from '../model/refuse.js';
import type { Admission, TurnResult } from './admission.js';

export interface WaitForTurnParts {
  readonly queue: TurnQueue<Admission, TurnResult>;
  readonly lock: Lock;
  readonly clock: Clock;
  readonly meter: Pick<Meter, 'phase'>;
}

/** Rejects where serving this request failed on a bug of ours. */
export async function waitForTurn(admission: Admission, parts: WaitForTurnParts): Promise<TurnResult> {
  const { queue, lock, clock, meter } = parts;
  const began = clock.monotonic();
  const out = new AbortController();
  const leave = (): void => out.abort();
  const callOff = clock.after(Math.max(0, admission.untilMs - began), leave);
  admission.gone.addEventListener('abort', leave, { once: true });
  try {
    const turn = await queue.join(admission, out.signal);
    if (turn.kind === 'served') {
      meter.phase('lock', turn.waitedMs / 1000);
      return turn.result;
    }
    if (admission.gone.aborted) return { kind: 'client_gone' };
    const waited = Math.round((clock.monotonic() - began) / 1000);
    return refuse('lock_unavailable', {
      detail: `could not get the lock within ${waited} s: ${lock.problem() ?? 'others were served first'}`,
    });
  } finally {
    callOff();
    admission.gone.removeEventListener('abort', leave);
  }
}
