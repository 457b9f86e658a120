/** Findings about the Redis that keeps the lock. Pure: judges its answers. */

import type { RedisFacts, RedisAnswer } from '../lock/redis/facts.js';
import { ok, unknown, warning, wrong, type Verdict } from './check.js';

/** More than this apart, the time stamps in logs, labels and tokens contradict each other. */
const CLOCKS_APART_MS = 2000;

/** Whether it answers and accepts the writes of the lock. */
export function judgeRedis(answer: RedisAnswer): Verdict {
  if (answer.kind === 'failed') {
    return wrong(answer.detail, 'start Redis, or correct TUNEPLANE_REDIS_URL and TUNEPLANE_REDIS_PASSWORD_FILE');
  }
  const { version, refusesWrites } = answer.facts;
  if (refusesWrites === null) return ok(`answers and takes writes, version ${version ?? 'unknown'}`);
  return wrong(
    `answers and takes no writes: ${refusesWrites}`,
    'admissions wait until it does: give it room and a disk, the gate the rights to scripts, to its key and to {<key>}:waiting, and name the master',
  );
}

/** A replica accepts no writes, so it cannot keep a lock. */
export function judgeRole(answer: RedisAnswer): Verdict {
  if (answer.kind === 'failed') return notAsked();
  if (answer.facts.role === null) return withheld();
  if (answer.facts.role === 'master') return ok('master');
  return wrong('this is a replica', 'set TUNEPLANE_REDIS_URL to the master');
}

/** Many eviction policies evict keys with a time to live first, and a lock is one. */
export function judgeEviction(answer: RedisAnswer): Verdict {
  if (answer.kind === 'failed') return notAsked();
  const { policy, evicts } = answer.facts;
  if (evicts !== null)
    return warning(evicts, 'redis-cli config set maxmemory-policy noeviction, and the same in redis.conf');
  if (policy === null) return withheld();
  return ok(policy === 'noeviction' ? policy : `${policy}, and no memory limit, so it has no effect`);
}

/** The lock itself does not depend on synchronized clocks; a person who compares logs and tokens does. */
export function judgeClock(answer: RedisAnswer): Verdict {
  if (answer.kind === 'failed') return notAsked();
  const { aheadMs } = answer.facts;
  if (aheadMs === null) return withheld();
  const apart = `${Math.abs(aheadMs)} ms ${aheadMs < 0 ? 'behind' : 'ahead of'} ours`;
  if (Math.abs(aheadMs) <= CLOCKS_APART_MS) return ok(`its clock is ${apart}`);
  return warning(
    `its clock is ${apart}: time stamps in logs and tokens contradict each other`,
    'let both machines keep time by NTP',
  );
}

export interface KeyFacts {
  readonly key: string;
  /** The default key, which everybody has who did not choose one. */
  readonly standardKey: string;
}

/**
 * Whether machines share the key, which makes them wait for each other. That cannot be proven: Redis shows which clients are
 * connected and not which key they use. This reports the evidence for it.
 */
export function judgeKey(answer: RedisAnswer, { key, standardKey }: KeyFacts): Verdict {
  if (answer.kind === 'failed') return notAsked();
  const { gates, holder } = answer.facts;
  const held = holderInWords(holder);
  if (holder !== null && holder !== 'nobody' && holder.endsInMs < 0) {
    return wrong(held, `it will not end by itself: if no allocator is at work, redis-cli del '${key}'`);
  }
  if (gates === null)
    return unknown(`${held}; other clients are unknown`, 'allow the gate CLIENT LIST, or check there by hand');
  const others = [...new Set(gates.filter(({ ours }) => !ours).map(({ address }) => address))];
  if (others.length === 0) return ok(`${held}; no gate from another address is connected now`);
  const says = `${held}; gates from other addresses are connected: ${others.join(', ')}`;
  if (key !== standardKey) return ok(`${says}; the key here is ${key}`);
  return warning(
    `${says}. Machines that share the key ${key} wait for each other`,
    'give each machine that uses this Redis a TUNEPLANE_LOCK_KEY of its own',
  );
}

/** A token is `<epoch ms>-<hex>`, made when its wait began, by the clock of its machine. */
function holderInWords(holder: RedisFacts['holder']): string {
  if (holder === null) return 'its holder is unknown';
  if (holder === 'nobody') return 'nobody holds it now';
  const made = Number(/^(\d{12,14})-/.exec(holder.token)?.[1] ?? Number.NaN);
  const since = Number.isNaN(made)
    ? 'by a token in an unknown format'
    : `by a token of ${new Date(made).toISOString()}`;
  const ends = holder.endsInMs < 0 ? 'without a time to live' : `for ${Math.ceil(holder.endsInMs / 1000)} s more`;
  return `held now, ${since}, ${ends}`;
}

function notAsked(): Verdict {
  return unknown('Redis does not answer, see above');
}

function withheld(): Verdict {
  return unknown(
    'Redis does not answer this user (INFO, TIME)',
    'allow the gate these commands, or check there by hand',
  );
}
