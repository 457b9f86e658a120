/** Requests that are held until their turn comes (`Prefer: wait`), and the events that wake them. */

import type { Place } from '../model/line.js';
import type { Occupancy } from '../model/occupancy.js';
import type { Observer } from '../model/ports/eyes.js';
import type { Clock, Log } from '../model/ports/outside.js';
import { walkLine, type LineRules } from './walk.js';
import { withoutEnded } from './without-ended.js';

export interface HeldRequestsParts {
  readonly observer: Pick<Observer, 'fresh'>;
  readonly clock: Clock;
  readonly log: Pick<Log, 'error'>;
  readonly places: () => readonly Place[];
  readonly rules: LineRules;
}

export interface HeldRequests {
  /** Holds a request for a run until it may be the run's turn, for at most `ms`, or until the signal aborts. */
  hold(runId: string, ms: number, gone: AbortSignal): Promise<void>;
  readonly count: number;
  /** Reports a look that another part took. */
  looked(occupancy: Occupancy): void;
  /** Reports the engine's event that this container has ended. */
  containerEnded(id: string): void;
  /** A place has ended: the runs behind it may be next. */
  placeEnded(): void;
  /** Wakes the requests for this run. */
  wake(runId: string): void;
  /** Wakes all, even those whose turn it is not. */
  wakeAll(): void;
}

/** The maximum number of held requests. */
export const MOST_HELD = 256;
/** Memory of an ended job may remain in use for a moment, and its card is not free until then. */
const LOOK_AFTER_END_MS = [500, 1000, 2000] as const;
/** More ends than this between two looks are told by the next look. */
const MOST_ENDED = 1000;
/** For changes without an event: a card that recovers, an exclusion that is lifted, outside use that ends. */
const LOOK_EVERY_MS = 5000;

export function createHeldRequests(parts: HeldRequestsParts): HeldRequests {
  const { observer, clock, log, places, rules } = parts;
  const held = new Map<string, Set<() => void>>();
  /**
   * Containers that have ended since the last look of ours began, those included that ended while a request was being decided:
   * its look may have been older than the end.
   */
  let ended = new Set<string>();
  let last: Occupancy | null = null;
  let count = 0;
  let looking = false;
  let callOffTick: (() => void) | null = null;

  /**
   * Wakes each request whose turn it would be by this look; `all`: also those that no look can decide, since their image is
   * missing.
   */
  function wakeWinners(occupancy: Occupancy, all = false): void {
    if (count === 0) return;
    const line = places().map((place) => ({ ...place, asks: held.has(place.runId) }));
    const { shares } = walkLine(line, withoutEnded(occupancy, ended), rules);
    for (const { runId, imageHere } of line) {
      const isTurn = imageHere ? shares.get(runId)?.kind !== 'waits' : all;
      if (isTurn) wake(runId);
    }
  }

  function wake(runId: string): void {
    for (const go of held.get(runId) ?? []) go();
  }

  async function look(all: boolean): Promise<void> {
    if (looking || count === 0) return;
    looking = true;
    try {
      const before = ended;
      ended = new Set();
      const { occupancy, snapshot } = await observer.fresh();
      // If the containers could not be listed, it is unknown which have ended.
      if (snapshot.docker.kind === 'blind') ended = new Set([...before, ...ended]);
      last = occupancy;
      wakeWinners(occupancy, all);
    } catch (error) {
      log.error({ err: error }, 'a look for the line failed');
    } finally {
      looking = false;
    }
  }

  function tick(): void {
    callOffTick?.();
    if (count === 0) return;
    callOffTick = clock.after(LOOK_EVERY_MS, () => {
      void look(true);
      tick();
    });
  }

  /** Once for each end: a card that a look shows held all the same is not worth asking for over and over. */
  function catchUp(): void {
    if (last === null || ended.size === 0) return;
    wakeWinners(last);
    ended = new Set();
  }

  function lookSoon(): void {
    if (count === 0) return;
    for (const ms of LOOK_AFTER_END_MS) clock.after(ms, () => void look(false));
  }

  return {
    hold: (runId, ms, gone) =>
      new Promise((resolve) => {
        if (gone.aborted || ms <= 0) return resolve();
        const go = (): void => {
          callOff();
          gone.removeEventListener('abort', go);
          const all = held.get(runId);
          if (!all?.delete(go)) return;
          count -= 1;
          if (all.size === 0) held.delete(runId);
          resolve();
        };
        const callOff = clock.after(ms, go);
        gone.addEventListener('abort', go, { once: true });
        held.set(runId, (held.get(runId) ?? new Set()).add(go));
        count += 1;
        if (count === 1) tick();
        catchUp();
      }),
    get count() {
      return count;
    },
    looked(occupancy) {
      last = occupancy;
    },
    containerEnded(id) {
      if (ended.size < MOST_ENDED) ended.add(id);
      if (count === 0) return;
      if (last !== null) wakeWinners(last);
      lookSoon();
    },
    placeEnded() {
      if (last !== null) wakeWinners(last);
    },
    wake,
    wakeAll() {
      for (const runId of Array.from(held.keys())) wake(runId);
    },
  };
}
