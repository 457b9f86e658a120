import type { Clock } from '../model/ports/outside.js';
import type { LockCommands } from './redis/commands.js';

/** Tokens that no request uses any more but that Redis may still hold. */
export interface OrphanedTokens {
  /** Asks Redis to release it, again and again until Redis answers. Settles after the first try; never rejects. */
  leave(token: string): Promise<void>;
  /** Asks once more for each token without an answer. */
  sweep(): Promise<void>;
}

/**
 * A command without an answer may have taken the key. So its token is released first of all when the connection is back.
 * After `forgetAfterMs` no token can still be alive in Redis, and it is forgotten.
 */
export function createOrphanedTokens(commands: LockCommands, clock: Clock, forgetAfterMs: number): OrphanedTokens {
  const left = new Map<string, number>();
  commands.onReady(() => void sweep());
  commands.onAlive(() => void sweep());

  async function letGo(token: string): Promise<void> {
    const asked = await commands.release(token);
    if (asked.kind === 'answered') left.delete(token);
  }

  async function sweep(): Promise<void> {
    const now = clock.monotonic();
    for (const [token, since] of left) if (now - since > forgetAfterMs) left.delete(token);
    await Promise.all([...left.keys()].map(letGo));
  }

  return {
    async leave(token) {
      left.set(token, clock.monotonic());
      await letGo(token);
    },
    sweep,
  };
}
