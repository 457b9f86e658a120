import type { Clock, Log } from '../model/ports/outside.js';

/** Logs a problem once, again once a minute while it lasts, and once when it is over. */
export interface TroubleLog {
  /** The current problem; null when there is none. */
  note(trouble: string | null): void;
}

const REPEAT_MS = 60_000;

/** Keeps a service that is queried every second, and fails the same way each time, from flooding the log. */
export function createTroubleLog(log: Log, clock: Clock, who: string): TroubleLog {
  let last: { readonly trouble: string; readonly saidAt: number; unsaid: number } | null = null;
  return {
    note(trouble) {
      if (trouble === null) {
        if (last !== null) log.info({}, `${who} answers again`);
        last = null;
        return;
      }
      if (last !== null && last.trouble === trouble && clock.monotonic() - last.saidAt < REPEAT_MS) {
        last.unsaid += 1;
        return;
      }
      log.warn(
        { trouble, repeated: last?.trouble === trouble ? last.unsaid : 0 },
        `${who} cannot be asked: ${trouble}`,
      );
      last = { trouble, saidAt: clock.monotonic(), unsaid: 0 };
    },
  };
}
