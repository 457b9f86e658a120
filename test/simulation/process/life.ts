/** One life of a gate's process: its own clock, and its incoming messages, which a freeze delays and a crash drops. */

import type { Clock } from '../../../src/model/ports/outside.js';
import type { Timeline } from './timeline.js';

export interface Life {
  /** Gate and number of the life: `b2`. */
  readonly name: string;
  readonly gate: string;
  readonly clock: Clock;
  readonly state: 'runs' | 'frozen' | 'dead';
  /** Delivers something to the process in `ms`: at once, after the freeze, or never. */
  deliver(ms: number, act: () => void): void;
  /** SIGSTOP, and SIGCONT after so many milliseconds: then everything that arrived meanwhile is delivered. */
  freeze(ms: number): void;
  thaw(): void;
  /** SIGKILL. */
  crash(): void;
}

export interface LifeParts {
  readonly name: string;
  readonly gate: string;
  readonly timeline: Timeline;
  /** The wall clock of the machine, epoch milliseconds. */
  readonly wall: () => number;
  /** Called whenever something has reached the process, so that its promises can run. */
  readonly touched: () => void;
  /** After a freeze: do timers run first, or answers? Both happen. */
  readonly timersFirst: () => boolean;
  readonly told: (what: 'frozen' | 'thawed' | 'crashed') => void;
}

interface Held {
  readonly act: () => void;
  readonly isTimer: boolean;
}

/** A timer of Node waits for a millisecond at least. */
const SHORTEST_TIMER_MS = 1;

export function createLife(parts: LifeParts): Life {
  const { name, gate, timeline, wall, touched, timersFirst, told } = parts;
  const bornAt = timeline.now;
  let state: Life['state'] = 'runs';
  let held: Held[] = [];
  let callOffThaw = (): void => {};

  function reach(act: () => void, isTimer: boolean): void {
    if (state === 'dead') return;
    if (state === 'frozen') return void held.push({ act, isTimer });
    act();
    touched();
  }

  function after(ms: number, act: () => void): () => void {
    let calledOff = false;
    const callOff = timeline.after(Math.max(SHORTEST_TIMER_MS, ms), () => reach(() => calledOff || act(), true));
    return () => {
      calledOff = true;
      callOff();
    };
  }

  /** Delivers what arrived during the freeze, in order; promises run between any two. */
  function thaw(): void {
    if (state !== 'frozen') return;
    callOffThaw();
    state = 'runs';
    told('thawed');
    const first = timersFirst();
    const all = [
      ...held.filter(({ isTimer }) => isTimer === first),
      ...held.filter(({ isTimer }) => isTimer !== first),
    ];
    held = [];
    for (const { act, isTimer } of all) timeline.after(0, () => reach(act, isTimer));
  }

  return {
    name,
    gate,
    get state() {
      return state;
    },
    clock: { now: wall, monotonic: () => timeline.now - bornAt, after },
    deliver: (ms, act) => void timeline.after(ms, () => reach(act, false)),
    freeze(ms) {
      if (state !== 'runs') return;
      state = 'frozen';
      told('frozen');
      callOffThaw = timeline.after(ms, thaw);
    },
    thaw,
    crash() {
      if (state === 'dead') return;
      callOffThaw();
      state = 'dead';
      held = [];
      told('crashed');
    },
  };
}
