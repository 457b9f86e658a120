import type { Clock } from '../model/ports/outside.js';
import type { RuleFile, RuleFileStatus } from '../model/ports/rule-files.js';
import { pause } from '../time/pause.js';

/** A file that was broken by an edit is reported within seconds, not at the next request. */
const EVERY_MS = 5000;

export interface WatchedRuleFiles {
  /** The state of each file at its last check, seconds ago. */
  status(): readonly RuleFileStatus[];
  /** Checks them all now, as on SIGHUP. */
  look(): Promise<void>;
  stop(): void;
}

/** Checks the files periodically, for code that only needs their state. Null stands for a file that is not configured. */
export function watchRuleFiles(maybe: readonly (RuleFile | null)[], clock: Pick<Clock, 'after'>): WatchedRuleFiles {
  const files = maybe.filter((file) => file !== null);
  const stopping = new AbortController();

  const look = async (): Promise<void> => void (await Promise.all(files.map((file) => file.look())));

  async function goOnLooking(): Promise<void> {
    for (;;) {
      await pause(EVERY_MS, clock, stopping.signal);
      if (stopping.signal.aborted) return;
      await look();
    }
  }

  if (files.length > 0) void goOnLooking();
  return { status: () => files.map((file) => file.status()), look, stop: () => stopping.abort() };
}
