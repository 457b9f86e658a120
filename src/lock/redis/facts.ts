/**
 * What a Redis reports about itself and about the lock in it, for checking an installation. Asks once, and changes nothing.
 */

import { Redis } from 'ioredis';
import type { Clock } from '../../model/ports/outside.js';
import { explainEviction } from './eviction.js';
import { explainFailure } from './failure.js';
import { waitersKey } from './keys.js';
import { commonOptions } from './options.js';
import { TRY_OUT } from './scripts.js';

/** Each is null where Redis did not say, for example because an ACL forbids the command. */
export interface RedisFacts {
  readonly version: string | null;
  /** Why it would refuse the gate's writes, in its own words; null where it would accept them. */
  readonly refusesWrites: string | null;
  readonly role: 'master' | 'replica' | null;
  readonly policy: string | null;
  /** What is wrong with its eviction policy, as a sentence. */
  readonly evicts: string | null;
  /** How far its clock is ahead of ours, in milliseconds; negative when behind. */
  readonly aheadMs: number | null;
  /** The current holder of the lock. */
  readonly holder: { readonly token: string; readonly endsInMs: number } | 'nobody' | null;
  /** The connected gates: whether each connects from the same address as we do. */
  readonly gates: readonly { readonly address: string; readonly ours: boolean }[] | null;
}

export type RedisAnswer =
  | { readonly kind: 'told'; readonly facts: RedisFacts }
  | { readonly kind: 'failed'; readonly detail: string };

export interface RedisQuestion {
  readonly url: string;
  /** Throws where the password cannot be read; null: use the url's password. */
  readonly password: (() => string) | null;
  /** The lock's key. */
  readonly key: string;
  readonly clock: Clock;
}

/** Every question settles within 2 s. */
const COMMAND_MS = 2000;

export async function askRedis({ url, password, key, clock }: RedisQuestion): Promise<RedisAnswer> {
  let trouble: Error | null = null;
  let redis: Redis | null = null;
  try {
    redis = new Redis(url, optionsWith(password === null ? null : password()));
    redis.on('error', (error: Error) => (trouble ??= error));
    await redis.connect();
    return { kind: 'told', facts: await facts(redis, key, clock) };
  } catch (error) {
    return { kind: 'failed', detail: explainFailure(trouble ?? (error as Error)) };
  } finally {
    redis?.disconnect();
  }
}

async function facts(redis: Redis, key: string, clock: Clock): Promise<RedisFacts> {
  const [info, refusesWrites, aheadMs, holder, gates] = await Promise.all([
    tell(redis.info()),
    // The commands of the lock, in forms that change nothing.
    redis.eval(TRY_OUT, 2, key, waitersKey(key), 'nobody', COMMAND_MS).then(
      () => null,
      (error: Error) => error.message,
    ),
    tell(clockAhead(redis, clock)),
    tell(holderOf(redis, key)),
    tell(gatesAt(redis)),
  ]);
  const lines = info?.split(/\r?\n/) ?? [];
  const line = (name: string): string | null =>
    lines.find((each) => each.startsWith(`${name}:`))?.slice(name.length + 1) ?? null;
  const role = line('role');
  return {
    version: line('redis_version'),
    refusesWrites,
    role: role === 'master' ? 'master' : role === null ? null : 'replica',
    policy: line('maxmemory_policy'),
    evicts: info === null ? null : explainEviction(info),
    aheadMs,
    holder,
    gates,
  };
}

/** Null where an ACL, or anything else, keeps Redis from answering. */
function tell<T>(question: Promise<T>): Promise<T | null> {
  return question.catch(() => null);
}

/** Assumes that half of the round trip passed before Redis read its clock. */
async function clockAhead(redis: Redis, clock: Clock): Promise<number> {
  const sentAt = clock.now();
  const [seconds, microseconds] = await redis.time();
  const middle = (sentAt + clock.now()) / 2;
  return Math.round(Number(seconds) * 1000 + Number(microseconds) / 1000 - middle);
}

async function holderOf(redis: Redis, key: string): Promise<RedisFacts['holder']> {
  const [token, endsInMs] = await Promise.all([redis.get(key), redis.pttl(key)]);
  return token === null ? 'nobody' : { token, endsInMs };
}

/** By the client name that every gate sets on its connection. */
async function gatesAt(redis: Redis): Promise<RedisFacts['gates']> {
  const [own, all] = await Promise.all([redis.call('CLIENT', 'INFO'), redis.call('CLIENT', 'LIST')]);
  const ours = hostIn(String(own));
  return String(all)
    .split('\n')
    .filter((client) => / name=tuneplane-gpu-gate /.test(client))
    .map((client) => ({ address: hostIn(client), ours: hostIn(client) === ours }));
}

/** `addr=10.0.0.7:41234` without the port; a unix socket's path stays as it is. */
function hostIn(client: string): string {
  return (/ addr=(\S+)/.exec(` ${client}`)?.[1] ?? '?').replace(/:\d+$/, '');
}

function optionsWith(password: string | null) {
  return {
    ...commonOptions('tuneplane-gpu-gate-doctor', password),
    commandTimeout: COMMAND_MS,
    connectTimeout: COMMAND_MS,
    socketTimeout: COMMAND_MS * 2,
    retryStrategy: () => null,
  } as const;
}
