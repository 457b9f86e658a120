import { describe, expect, test } from 'vitest';
import { dice } from '../soak/random.js';
import { EIGHT_CARDS, runStream, type Stream } from './streams.js';

/** What the line promises to those who wait, held over weeks of jobs. */

const eight: Stream = { ...EIGHT_CARDS, days: 20 };

/** A machine and a mix of jobs of every kind, some with a card that nobody gets. */
function drawn(seed: number): Stream {
  const chances = dice(seed);
  const cards = chances.one([4, 8]);
  const out = chances.one(['', '', 'u', 'x', 'e']);
  return {
    seed,
    days: 10,
    cards: 'f'.repeat(cards - out.length) + out,
    load: chances.one([0.4, 0.6, 0.8]),
    big: { count: chances.between(2, cards), every: chances.between(120, 720), length: chances.between(10, 240) },
    reserveAfter: chances.one([0.5, 10, 60]),
  };
}

describe('over seeded streams of jobs', () => {
  test('the oldest with the reservation starts when the longest job that ran then has ended, at the latest', () => {
    const told = Array.from({ length: 60 }, (_, seed) => ({ seed, ...runStream(drawn(seed)) }));
    for (const { seed, beyondBound } of told) expect(beyondBound, `seed ${seed}`).toEqual([]);
    expect(told.reduce((sum, { reservations }) => sum + reservations, 0)).toBeGreaterThan(500);
  });

  test('a run for all cards gets them, and much sooner than without reservations', () => {
    const kept = runStream(eight);
    const lottery = runStream({ ...eight, reserveAfter: null });
    expect(median(kept.waits.big)).toBeLessThan(median(lottery.waits.big) / 3);
    expect(lottery.reserved).toBe(0);
  });

  test.each(['u', 'x', 'e'])('a card that is out (%s) makes no run for all cards keep the others idle', (out) => {
    const told = runStream({ ...eight, cards: `fffffff${out}`, load: 0.5 });
    expect(told.reserved).toBe(0);
    expect(told.waits.big).toEqual([]);
    expect(told.waits.small.length).toBeGreaterThan(500);
  });
});

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
