/** The lock in Redis: one holder at a time among all processes that share it, as a lease. */

import { randomBytes } from 'node:crypto';
import type { Hold, Lock } from '../model/ports/lock.js';
import type { Meter } from '../model/ports/meter.js';
import type { Clock, Log } from '../model/ports/outside.js';
import { elapsedSince, momentOf } from '../time/elapsed.js';
import { inTime } from '../time/in-time.js';
import { pause } from '../time/pause.js';
import { holdLease, usableLeaseMs } from './hold.js';
import { createHolderNote } from './holder-note.js';
import { createOrphanedTokens } from './orphaned-tokens.js';
import { type LockCommands, openLockCommands } from './redis/commands.js';

export interface RedisLockParts extends Omit<LeaseLockParts, 'commands'> {
  /** `redis://` or `rediss://`. */
  readonly url: string;
  /** Called at the start and again whenever the connection has closed. Null: use the url's password. */
  readonly password: (() => string) | null;
}

export interface LeaseLockParts {
  readonly commands: LockCommands;
  readonly key: string;
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Pick<Meter, 'lockLost'>;
  readonly random?: LockRandom;
}

export interface LockRandom {
  /** From 0 (included) to 1 (excluded). */
  fraction(): number;
  /** 16 hexadecimal digits. */
  hex16(): string;
}

/** The lock and its connection. `close` releases whatever we hold and settles within a second, whatever Redis does. */
export type RedisLock = Lock & { close(): Promise<void> };

const TRY_EVERY_MS = 250;
/** Longer than any other gate's pause between two tries, so that each can try before we take the lock again. */
const LET_OTHERS_MS = 300;
const GIVE_BACK_WITHIN_MS = 600;

const systemRandom: LockRandom = {
  fraction: Math.random,
  hex16: () => randomBytes(8).toString('hex'),
};

/**
 * One lock for all processes that share a Redis: a key with a token and a time to live, in the older agent's format. Any
 * answer but "yours" means "not yours".
 */
export function createRedisLock(parts: RedisLockParts): RedisLock {
  return createLeaseLock({ ...parts, commands: openLockCommands(parts) });
}

/** The same lock, on commands that are open already. */
export function createLeaseLock(parts: LeaseLockParts): RedisLock {
  const { commands, key, leaseMs, clock, log, meter } = parts;
  const random = parts.random ?? systemRandom;
  const left = createOrphanedTokens(commands, clock, 2 * leaseMs);
  const holderNote = createHolderNote({ key, clock, log });
  const holds = new Set<Hold>();
  const waits = new Set<Promise<Hold | null>>();
  const asking = new Set<string>();
  const closing = new AbortController();
  let othersFirstUntil = Number.NEGATIVE_INFINITY;

  async function wait(signal: AbortSignal): Promise<Hold | null> {
    const token = `${clock.now()}-${random.hex16()}`;
    let fate: 'never_asked' | 'not_ours' | 'unknown' = 'never_asked';
    for (;;) {
      await pause(othersFirstUntil - clock.monotonic(), clock, signal);
      if (signal.aborted) break;
      const sentAt = momentOf(clock);
      asking.add(token);
      const asked = await commands.acquire(token, leaseMs);
      asking.delete(token);
      if (asked.kind === 'failed') fate = 'unknown';
      else if (asked.value.kind === 'kept_out') {
        fate = 'not_ours';
        holderNote.by(asked.value.holder, asked.value.endsInMs);
      } else {
        fate = 'unknown';
        holderNote.noMore();
        if (signal.aborted) break;
        // The answer came after the lease had ended: ask again, with the same token.
        if (elapsedSince(sentAt, clock) < usableLeaseMs(leaseMs)) return hold(token, sentAt);
      }
      await pause(TRY_EVERY_MS * (0.8 + 0.2 * random.fraction()), clock, signal);
    }
    if (fate !== 'never_asked') await left.leave(token);
    return null;
  }

  function hold(token: string, takenAt: ReturnType<typeof momentOf>): Hold {
    const taken: Hold = holdLease({
      commands,
      token,
      leaseMs,
      takenAt,
      clock,
      onLost(why) {
        holds.delete(taken);
        meter.lockLost();
        log.error(
          { key, token },
          `the lock was lost: ${why}; what was claimed under it is checked by the claim protocol`,
        );
      },
      onReleased({ othersWait }) {
        holds.delete(taken);
        if (othersWait) othersFirstUntil = clock.monotonic() + LET_OTHERS_MS;
      },
      leave: (gone) => left.leave(gone),
    });
    holds.add(taken);
    return taken;
  }

  return {
    async acquire(signal) {
      const waiting = wait(AbortSignal.any([signal, closing.signal]));
      waits.add(waiting);
      try {
        return await waiting;
      } finally {
        waits.delete(waiting);
      }
    },
    problem: () => commands.trouble ?? holderNote.sentence(),
    get held() {
      return holds.size > 0;
    },
    get up() {
      return commands.up;
    },
    async close() {
      closing.abort();
      const given = Promise.all([
        ...waits,
        ...[...holds].map(async (taken) => taken.release()),
        // The release goes on the same connection after any open question, hence this order.
        ...[...asking].map(async (token) => left.leave(token)),
        left.sweep(),
      ]);
      await inTime(given, GIVE_BACK_WITHIN_MS, clock);
      await commands.close();
    },
  };
}
