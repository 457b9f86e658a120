import type { Chance } from '../process/chance.js';
import { createTimeline, type Timeline } from '../process/timeline.js';

/** The shared context of a history: one time, one source of chance, and the listeners. */
export interface World {
  readonly timeline: Timeline;
  readonly chance: Chance;
  /** The wall clock of the machine, epoch milliseconds. */
  wall(): number;
  setWall(byMs: number): void;
  /** A line of the story; formatted only if it is read. */
  tell(line: () => string): void;
  /** Counts what was reached. */
  count(what: string): void;
  readonly story: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
}

const BEGINS_AT = Date.UTC(2026, 10, 29, 12);

export function createWorld(chance: Chance, wantsStory: boolean): World {
  const timeline = createTimeline();
  const story: string[] = [];
  const counts = new Map<string, number>();
  let offsetMs = BEGINS_AT;
  return {
    timeline,
    chance,
    story,
    counts,
    wall: () => timeline.now + offsetMs,
    setWall: (byMs) => void (offsetMs += byMs),
    tell(line) {
      if (wantsStory) story.push(`${timeline.now.toFixed(1).padStart(9)}  ${line()}`);
    },
    count: (what) => void counts.set(what, (counts.get(what) ?? 0) + 1),
  };
}
