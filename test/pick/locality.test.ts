import { describe, expect, test } from 'vitest';
import { cardIndex } from '../../src/model/card.js';
import type { IndexLinks } from '../../src/pick/islands.js';
import { pick } from '../../src/pick/pick.js';
import { twoIslands } from './links.js';

type Picker = (free: readonly number[], count: number) => readonly number[] | null;
const ours =
  (links: IndexLinks | null): Picker =>
  (free, count) =>
    pick(free.map(cardIndex), count, links)?.indices ?? null;

/** What one would write first: the first window of consecutive cards, else the first cards. */
const firstWindow: Picker = (free, count) => {
  if (free.length < count) return null;
  const at = free.findIndex((card, place) => free[place + count - 1] === card + count - 1);
  return at === -1 ? free.slice(0, count) : free.slice(at, at + count);
};

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * The share of 4-card jobs that got all cards of one island of four. Jobs of 1, 2, 4 and 8 cards come at random to a machine
 * of 8 cards that they load to 60 %; one that finds no room comes back later, as callers of the gate do.
 */
function shareInsideOneIsland(picker: Picker, seed: number, jobs: number): number {
  const next = random(seed);
  const sizes = [1, 1, 1, 1, 2, 2, 2, 4, 4, 8];
  const meanSize = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
  const meanLength = 100;
  const meanGap = (meanLength * meanSize) / (8 * 0.6);
  const running: { cards: readonly number[]; until: number }[] = [];
  const waiting: { size: number; length: number }[] = [];
  const islandsOfFours: number[] = [];
  let now = 0;
  for (let job = 0; job < jobs; job += 1) {
    now += -Math.log(1 - next()) * meanGap;
    waiting.push({ size: sizes[Math.floor(next() * sizes.length)] ?? 1, length: -Math.log(1 - next()) * meanLength });
    for (const ended of running.filter(({ until }) => until <= now)) running.splice(running.indexOf(ended), 1);
    for (const waiter of waiting.slice()) {
      const free = [...Array(8).keys()].filter((card) => !running.some(({ cards }) => cards.includes(card)));
      const cards = picker(free, waiter.size);
      if (cards === null) continue;
      waiting.splice(waiting.indexOf(waiter), 1);
      running.push({ cards, until: now + waiter.length });
      if (waiter.size === 4) islandsOfFours.push(new Set(cards.map((card) => card >> 2)).size);
    }
  }
  return islandsOfFours.filter((islands) => islands === 1).length / islandsOfFours.length;
}

describe('at 60 % load, 4-card jobs stay inside one island of four', () => {
  test.each([1, 2, 3])('far more often than with the first window (seed %i)', (seed) => {
    const naive = shareInsideOneIsland(firstWindow, seed, 4000);
    const byIndex = shareInsideOneIsland(ours(null), seed, 4000);
    const byLinks = shareInsideOneIsland(ours(twoIslands), seed, 4000);
    expect(byIndex).toBeGreaterThanOrEqual(0.85);
    expect(byLinks).toBeGreaterThanOrEqual(0.85);
    expect(naive).toBeLessThan(byIndex - 0.2);
  });
});
