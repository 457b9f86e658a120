/** Ctrl-C in two steps: the first asks for an end, the second does not wait for it. */

import { pause } from '../../time/pause.js';
import { systemClock } from '../../time/system-clock.js';

export interface TwoSignals {
  readonly first: AbortSignal;
  readonly second: AbortSignal;
  /** Ends early with the first. */
  pause(ms: number): Promise<void>;
  /** From now on a signal ends the process. */
  forget(): void;
}

export function twoSignals(): TwoSignals {
  const [first, second] = [new AbortController(), new AbortController()];
  const onSignal = (): void => (first.signal.aborted ? second : first).abort();
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  return {
    first: first.signal,
    second: second.signal,
    pause: (ms) => pause(ms, systemClock, first.signal),
    forget() {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
