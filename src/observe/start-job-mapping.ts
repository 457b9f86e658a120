import type { Observer } from '../model/ports/eyes.js';
import type { Clock, Log } from '../model/ports/outside.js';
import { createJobMapping } from './job-mapping.js';

export interface JobMappingParts {
  /** `TUNEPLANE_JOB_MAPPING_DIR`. */
  readonly folder: string;
  readonly observer: Pick<Observer, 'recent'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** dcgm-exporter reads the files at each of its own rounds, 30 s apart where nothing else is said. */
const EVERY_MS = 10_000;
const WITHIN_MS = 5000;

/** Looks every few seconds, and at once after the gate changed something itself, so that the files follow the cards. */
export function startJobMapping({ folder, observer, clock, log }: JobMappingParts): { changed(): void; stop(): void } {
  const mapping = createJobMapping(folder, log);
  let cancel: (() => void) | null = null;
  let stopped = false;

  async function look(): Promise<void> {
    const { occupancy } = await observer.recent(WITHIN_MS);
    if (!stopped) mapping.told(occupancy);
  }
  function later(ms: number): void {
    cancel?.();
    cancel = clock.after(ms, () => {
      if (stopped) return;
      later(EVERY_MS);
      look().catch((error: unknown) => log.error({ err: error }, 'the jobs of the cards could not be looked up'));
    });
  }

  later(0);
  return {
    changed: () => later(0),
    stop: () => {
      stopped = true;
      cancel?.();
    },
  };
}
