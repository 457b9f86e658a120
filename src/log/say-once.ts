import type { Clock } from '../model/ports/outside.js';

/**
 * Passes a sentence on at most once per `everyMs`, so that a Redis that is down for an hour does not flood the log.
 * Different sentences do not suppress each other.
 */
export function sayOnce(clock: Clock, everyMs: number, say: (sentence: string) => void): (sentence: string) => void {
  const said = new Map<string, number>();
  return (sentence) => {
    const now = clock.monotonic();
    for (const [old, at] of said) if (now - at >= everyMs) said.delete(old);
    if (said.has(sentence)) return;
    said.set(sentence, now);
    say(sentence);
  };
}
