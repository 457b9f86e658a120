import { sayOnce } from '../log/say-once.js';
import type { Clock, Log } from '../model/ports/outside.js';

/** Who holds the lock instead of us, as of the last try. */
export interface HolderNote {
  /** `endsInMs` is the key's time to live in Redis; negative where it has none. */
  by(holder: string, endsInMs: number): void;
  noMore(): void;
  /** A sentence for an answer; null when no other holder was seen lately. */
  sentence(): string | null;
}

/** Older notes are stale: nobody has tried since. */
const COUNTS_FOR_MS = 2000;

/**
 * Remembers since when the same holder was seen. The time stamp in its token is not used: a waiting gate creates its token
 * long before it gets the lock, and other machines have other clocks.
 */
export function createHolderNote({ key, clock, log }: { key: string; clock: Clock; log: Log }): HolderNote {
  let note: { holder: string; since: number; seen: number; endsInMs: number } | null = null;
  const warn = sayOnce(clock, 60_000, (sentence) => log.warn({ key }, sentence));

  function isFresh(): boolean {
    return note !== null && clock.monotonic() - note.seen <= COUNTS_FOR_MS;
  }

  return {
    by(holder, endsInMs) {
      const seen = clock.monotonic();
      const since = note !== null && note.holder === holder && isFresh() ? note.since : seen;
      note = { holder, since, seen, endsInMs };
      if (endsInMs < 0) warn(`the lock has no time to live and will not end by itself; ${byHand(key)}`);
    },
    noMore() {
      note = null;
    },
    sentence() {
      if (note === null || !isFresh()) return null;
      const held = `held by another for ${Math.floor((clock.monotonic() - note.since) / 1000)} s`;
      return note.endsInMs < 0
        ? `${held}, without a time to live; ${byHand(key)}`
        : `${held}, for ${Math.ceil(note.endsInMs / 1000)} s more unless it is renewed`;
    },
  };
}

function byHand(key: string): string {
  return `if no allocator is at work, delete the key '${key}' by hand`;
}
