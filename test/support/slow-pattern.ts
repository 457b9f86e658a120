import { check } from 'recheck';
import type { Pattern } from './house/source.js';

/**
 * Whether a text can make this pattern take more steps than it has characters, times a constant: how much more, and by which
 * text; null where none can. Proved on the pattern's automaton where that is small enough, else searched for. Neither chance nor
 * the clock has a say.
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
