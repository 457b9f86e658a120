/** Random numbers from a seed, so that a storm can be identified and repeated. */
export interface Dice {
  /** From 0 (included) to 1 (excluded). */
  next(): number;
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  one<T>(of: readonly T[]): T;
  /** True in so many cases out of a hundred. */
  chance(percent: number): boolean;
}

export function dice(seed: number): Dice {
  let state = Math.imul(seed, 2654435761);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    between,
    one: (of) => {
      const chosen = of[between(0, of.length - 1)];
      if (chosen === undefined) throw new RangeError('nothing to choose from');
      return chosen;
    },
    chance: (percent) => next() * 100 < percent,
  };
}
