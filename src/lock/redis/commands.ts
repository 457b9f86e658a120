import type { Redis } from 'ioredis';
import { z } from 'zod';
import { type Asked, COMMAND_TIMEOUT_MS, connectRedis, type RedisConnectionParts } from './connection.js';
import { waitersKey } from './keys.js';
import { ACQUIRE, RELEASE, RENEW, TRY_OUT } from './scripts.js';

export type AcquireAnswer =
  | { readonly kind: 'ours' }
  /** `holder` is the key's value; `endsInMs` is negative where the key has no time to live. */
  | { readonly kind: 'kept_out'; readonly holder: string; readonly endsInMs: number };

export interface ReleaseAnswer {
  readonly wasOurs: boolean;
  readonly othersWait: boolean;
}

/** The three commands on the lock, and their connection. */
export interface LockCommands {
  /** Executed within a second or never. */
  acquire(token: string, leaseMs: number): Promise<Asked<AcquireAnswer>>;
  /** True when the lock is ours and its lease is at full length again. */
  renew(token: string, leaseMs: number): Promise<Asked<boolean>>;
  release(token: string): Promise<Asked<ReleaseAnswer>>;
  readonly up: boolean;
  readonly trouble: string | null;
  onReady(listener: () => void): () => void;
  onAlive(listener: () => void): () => void;
  close(): Promise<void>;
}

export type LockCommandsParts = Omit<RedisConnectionParts, 'tryOut'> & { readonly key: string };

/** How long a process that did not get the lock counts as waiting. */
const WAITER_MS = 1000;

interface Scripted {
  gateAcquire(
    lock: string,
    waiters: string,
    token: string,
    lease: number,
    until: number,
    waiterMs: number,
  ): Promise<unknown>;
  gateRenew(lock: string, token: string, lease: number): Promise<unknown>;
  gateRelease(lock: string, waiters: string, token: string, waiterMs: number): Promise<unknown>;
  gateTryOut(lock: string, waiters: string, nobody: string, anyMs: number): Promise<unknown>;
}

/** Opens the commands on the lock in Redis. Never throws; see `connectRedis`. */
export function openLockCommands(parts: LockCommandsParts): LockCommands {
  const { key, clock } = parts;
  const waiters = waitersKey(key);
  const connection = connectRedis({ ...parts, tryOut: () => redis.gateTryOut(key, waiters, 'nobody', WAITER_MS) });
  const redis: Redis & Scripted = connection.redis as Redis & Scripted;
  redis.defineCommand('gateAcquire', { numberOfKeys: 2, lua: ACQUIRE });
  redis.defineCommand('gateRenew', { numberOfKeys: 1, lua: RENEW });
  redis.defineCommand('gateRelease', { numberOfKeys: 2, lua: RELEASE });
  redis.defineCommand('gateTryOut', { numberOfKeys: 2, lua: TRY_OUT });
  /** How far Redis' wall clock is ahead of our monotonic clock, by the last answer. */
  let redisAheadMs: number | null = null;

  async function tryAcquire(token: string, leaseMs: number): Promise<Asked<AcquireAnswer | 'too_late'>> {
    const sentAt = clock.monotonic();
    // Before Redis' clock is known nothing can be executed: the answer is 'too late', and contains the clock.
    const until = redisAheadMs === null ? 0 : Math.floor(sentAt + redisAheadMs + COMMAND_TIMEOUT_MS);
    return connection.ask(
      () => redis.gateAcquire(key, waiters, token, leaseMs, until, WAITER_MS),
      (reply) => {
        const [code, now, holder, endsInMs] = understood(acquireReply, reply);
        redisAheadMs = now - (sentAt + clock.monotonic()) / 2;
        if (code === 1) return { kind: 'ours' };
        return code === 0 ? { kind: 'kept_out', holder, endsInMs } : 'too_late';
      },
      'all is well',
    );
  }

  return {
    async acquire(token, leaseMs) {
      let asked = await tryAcquire(token, leaseMs);
      // The answer contained Redis' clock, so the second try is in time.
      if (asked.kind === 'answered' && asked.value === 'too_late') asked = await tryAcquire(token, leaseMs);
      if (asked.kind === 'failed' || asked.value === 'too_late') return { kind: 'failed' };
      return { kind: 'answered', value: asked.value };
    },
    renew: (token, leaseMs) =>
      connection.ask(
        () => redis.gateRenew(key, token, leaseMs),
        (reply) => understood(renewReply, reply) === 1,
        'no more than its answer',
      ),
    release: (token) =>
      connection.ask(
        () => redis.gateRelease(key, waiters, token, WAITER_MS),
        (reply) => {
          const [wasOurs, others] = understood(releaseReply, reply);
          return { wasOurs: wasOurs === 1, othersWait: others > 0 };
        },
        'no more than its answer',
      ),
    get up() {
      return connection.up;
    },
    get trouble() {
      return connection.trouble;
    },
    onReady: (listener) => connection.onReady(listener),
    onAlive: (listener) => connection.onAlive(listener),
    close: () => connection.close(),
  };
}

/** The scripts' answers; see scripts.ts. */
const acquireReply = z.tuple([z.number(), z.number(), z.string(), z.number()]);
const renewReply = z.union([z.literal(0), z.literal(1)]);
const releaseReply = z.tuple([z.number(), z.number()]);

/** Validates the reply. Throws on an unexpected one, which then counts as no answer: neither yes nor no. */
function understood<T>(form: z.ZodType<T>, reply: unknown): T {
  const parsed = form.safeParse(reply);
  if (parsed.success) return parsed.data;
  throw new Error(`its answer was invalid: ${JSON.stringify(reply)?.slice(0, 80)}`);
}
