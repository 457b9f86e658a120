import type { Clock } from '../model/ports/outside.js';

/**
 * Lets a sentence through once in `everyMs`, so that a Redis that is down for an hour does not fill the log. Sentences that
 * differ do not hold each other back.
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
