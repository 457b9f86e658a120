/** A Redis in memory, as far as the scripts of the lock ask anything of it. Like the real one it ends a key by its wall clock. */

import type { AcquireAnswer, ReleaseAnswer } from '../../../src/lock/redis/commands.js';

export interface ModelRedis {
  /** The key's value now; null where it is not there. */
  readonly holder: string | null;
  /** Carried out no later than `untilMs` of the wall clock, else null. */
  acquire(token: string, leaseMs: number, untilMs: number): AcquireAnswer | null;
  renew(token: string, leaseMs: number): boolean;
  release(token: string): ReleaseAnswer;
  /** All that it knows is gone: FLUSHALL, or a restart without a file. */
  empty(): void;
}

export interface Redises {
  /** The one that this gate asks. */
  of(gate: string): ModelRedis;
  /** All of them forget what they know. */
  empty(): void;
}

/** One for all gates, or one for each: after a failover that went wrong two masters may be asked. */
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

/** How long a mark of one that was kept out counts. */
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
