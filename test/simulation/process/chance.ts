import { dice, type Dice } from '../../soak/random.js';

/**
 * Random numbers by name: the same seed and name give the same numbers, whatever else was drawn before. So a history stays
 * the same when one of its faults is removed.
 */
export type Chance = (name: string) => Dice;

export function chanceOf(seed: number): Chance {
  return (name) => dice(hash(name, seed));
}

/** FNV-1a over the name, started with the seed, and mixed once more: neighbouring names are far apart. */
function hash(name: string, seed: number): number {
  let sum = 0x811c9dc5 ^ Math.imul(seed, 0x9e3779b1);
  for (let at = 0; at < name.length; at += 1) sum = Math.imul(sum ^ name.charCodeAt(at), 0x01000193);
  sum = Math.imul(sum ^ (sum >>> 15), 0x2c1b3c6d);
  return (sum ^ (sum >>> 13)) >>> 0;
}
