import { check } from 'recheck';
import type { Pattern } from './house/source.js';

/**
 * Whether a text can make this pattern take more than linear time: how much more, and with which text; null where none can.
 * Proved on the pattern's automaton where that is small enough, else by search. Deterministic: uses no random numbers and no
 * clock.
 */
export async function whySlow({ source, flags }: Pattern): Promise<string | null> {
  const found = await check(source, flags, { timeout: 600_000, randomSeed: 1 });
  switch (found.status) {
    case 'safe':
      return null;
    case 'vulnerable':
      return `${found.complexity.type}, as with ${found.attack.pattern}`;
    case 'unknown':
      return `not to be told: ${found.error.kind}`;
    default:
      return found satisfies never;
  }
}
