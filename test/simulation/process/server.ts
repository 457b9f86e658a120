import type { Timeline } from './timeline.js';
import type { Server } from './wire.js';

/** Whether a server listens, and whether it handles calls. */
export interface ServerState extends Server {
  /** Accepts calls without handling them for so long. */
  hang(ms: number): void;
  /** Refuses connections for so long. */
  goDown(ms: number): void;
  /** Listens and works from now on. */
  mend(): void;
}

export function createServer(timeline: Timeline): ServerState {
  let downUntil = 0;
  let stalledUntil = 0;
  return {
    get down() {
      return timeline.now < downUntil;
    },
    get stalledUntil() {
      return stalledUntil;
    },
    hang: (ms) => void (stalledUntil = timeline.now + ms),
    goDown: (ms) => void (downUntil = timeline.now + ms),
    mend() {
      downUntil = 0;
      stalledUntil = 0;
    },
  };
}
