import type { Clock } from '../model/ports/outside.js';
import type { LockCommands } from './redis/commands.js';

/** The tokens that nobody stands behind any more and that Redis may still hold. */
export interface OrphanedTokens {
  /** Asks Redis to let go of it, now and again until Redis has answered. Settles after the first try; never rejects. */
  leave(token: string): Promise<void>;
  /** Asks once more for each that was not answered. */
  sweep(): Promise<void>;
}

/**
 * A command whose fate is unknown may have taken the key. So what was left is released again when the connection is back,
 * before anything else is asked. After `forgetAfterMs` nothing of a token can be alive in Redis, and it is forgotten.
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
