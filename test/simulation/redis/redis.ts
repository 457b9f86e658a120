/** A Redis in memory, with what the lock's scripts need. Like the real one it expires a key by its wall clock. */

import type { AcquireAnswer, ReleaseAnswer } from '../../../src/lock/redis/commands.js';

export interface ModelRedis {
  /** The key's value now; null where it does not exist. */
  readonly holder: string | null;
  /** Executed no later than `untilMs` of the wall clock, else null. */
  acquire(token: string, leaseMs: number, untilMs: number): AcquireAnswer | null;
  renew(token: string, leaseMs: number): boolean;
  release(token: string): ReleaseAnswer;
  /** Loses all its data: FLUSHALL, or a restart without a file. */
  empty(): void;
}

export interface Redises {
  /** The one that this gate uses. */
  of(gate: string): ModelRedis;
  /** All of them lose their data. */
  empty(): void;
}

/** One for all gates, or one for each: after a failed failover two masters may be in use. */
export function createRedises(wall: () => number, shared: boolean): Redises {
  const all = new Map<string, ModelRedis>();
  return {
    of(gate) {
      const key = shared ? '' : gate;
      const redis = all.get(key) ?? createModelRedis(wall);
      all.set(key, redis);
      return redis;
    },
    empty() {
      for (const redis of all.values()) redis.empty();
    },
  };
}

/** How long a process that did not get the lock counts as waiting. */
const MARK_MS = 1000;

function createModelRedis(wall: () => number): ModelRedis {
  let key: { readonly token: string; readonly endsAt: number } | null = null;
  const marks = new Map<string, number>();

  function alive(): { readonly token: string; readonly endsAt: number } | null {
    if (key !== null && wall() >= key.endsAt) key = null;
    return key;
  }

  return {
    get holder() {
      return alive()?.token ?? null;
    },
    acquire(token, leaseMs, untilMs) {
      if (wall() > untilMs) return null;
      const now = alive();
      if (now !== null && now.token !== token) {
        marks.set(token, wall() + MARK_MS);
        return { kind: 'kept_out', holder: now.token, endsInMs: now.endsAt - wall() };
      }
      key = { token, endsAt: wall() + leaseMs };
      marks.delete(token);
      return { kind: 'ours' };
    },
    renew(token, leaseMs) {
      if (alive()?.token !== token) return false;
      key = { token, endsAt: wall() + leaseMs };
      return true;
    },
    release(token) {
      const wasOurs = alive()?.token === token;
      if (wasOurs) key = null;
      marks.delete(token);
      const othersWait = [...marks.values()].some((until) => until >= wall() && until <= wall() + MARK_MS);
      return { wasOurs, othersWait };
    },
    empty() {
      key = null;
      marks.clear();
    },
  };
}
