/**
 * The only connection to Redis: reconnects by itself, limits the time of each question, and tells whether Redis is usable.
 */

import { Redis } from 'ioredis';
import { sayOnce } from '../../log/say-once.js';
import type { Clock, Log } from '../../model/ports/outside.js';
import { pause } from '../../time/pause.js';
import { explainEviction } from './eviction.js';
import { asksForAnother, explainFailure, explainNotReady, movedTo } from './failure.js';
import { commonOptions } from './options.js';

/** The result of a question to Redis. Any failure means "unknown": the command may have been executed, or may still be. */
export type Asked<T> = { readonly kind: 'answered'; readonly value: T } | { readonly kind: 'failed' };

/** Each question settles within a second and none rejects; nothing is queued. */
export interface RedisConnection {
  readonly redis: Redis;
  /**
   * `read` parses the reply and throws on one it does not understand. A full Redis still executes commands that delete or
   * prolong, so only a command that could add data proves that all is well.
   */
  ask<T>(
    question: () => Promise<unknown>,
    read: (reply: unknown) => T,
    shows: 'all is well' | 'no more than its answer',
  ): Promise<Asked<T>>;
  /** Connected, and the last question was answered. */
  readonly up: boolean;
  /** Why Redis is unusable now, as a sentence; null while it is usable. */
  readonly trouble: string | null;
  /**
   * Called on every ready connection, the first included, before any other command on it. Returns the function that
   * unsubscribes.
   */
  onReady(listener: () => void): () => void;
  /** Called whenever Redis has answered the check that runs every few seconds. Returns the function that unsubscribes. */
  onAlive(listener: () => void): () => void;
  /** Settles within half a second. Questions asked from now on fail. */
  close(): Promise<void>;
}

export interface RedisConnectionParts {
  readonly url: string;
  /**
   * Called at the start and again whenever a connection has closed, to pick up a changed password. Null: use the url's
   * password.
   */
  readonly password: (() => string) | null;
  /** Sends every command that the lock will send, in forms that change nothing; called first on each new connection. */
  readonly tryOut: () => Promise<unknown>;
  readonly clock: Clock;
  readonly log: Log;
}

export const COMMAND_TIMEOUT_MS = 1000;
/** How often to check that Redis accepts writes: seldom while it does, soon after it did not. */
const CHECK_MS = { up: 5000, down: 1000 } as const;
const SAME_SENTENCE_MS = 30_000;
const CLOSE_WITHIN_MS = 400;

/** Opens the connection and reconnects for ever. Never throws: while Redis is down, `trouble` says so. */
export function connectRedis(parts: RedisConnectionParts): RedisConnection {
  const { clock, log } = parts;
  const complain = sayOnce(clock, SAME_SENTENCE_MS, (sentence) => log.warn({}, sentence));
  const inform = sayOnce(clock, SAME_SENTENCE_MS, (sentence) => log.info({}, sentence));
  const readyListeners = new Set<() => void>();
  const aliveListeners = new Set<() => void>();
  let trouble: string | null = 'Redis does not answer: not connected yet';
  let connectionError: Error | null = null;
  let connections = 0;
  let closed = false;

  const redis = new Redis(parts.url, { ...redisOptions(readPassword()), reconnectOnError });
  const { host, port } = redis.options;
  redis.on('error', (error: Error) => {
    connectionError = error;
    inTrouble(explainFailure(error));
  });
  redis.on('connect', () => {
    connectionError = null;
  });
  redis.on('close', () => {
    const password = readPassword();
    if (password !== null) redis.options.password = password;
    // If a node of a cluster is unreachable, asks the node in the settings, which knows of another.
    if (connectionError !== null && movedTo(connectionError) === null) Object.assign(redis.options, { host, port });
    inTrouble(explainNotReady(redis.status, connectionError));
  });
  redis.on('ready', () => {
    connections += 1;
    connectionError = null;
    for (const listener of readyListeners) listener();
    void check();
    void warnOfEviction();
  });
  let checkTimer = checkIn(CHECK_MS.down);
  // ioredis retries by itself; what went wrong comes as an 'error' event.
  redis.connect().catch(() => undefined);

  /** Whether another connection helps: to a new master, or to the cluster node with the slot. */
  function reconnectOnError(error: Error): 1 | false {
    const moved = movedTo(error);
    if (moved !== null) Object.assign(redis.options, { ...moved, host: moved.host || redis.options.host });
    return moved !== null || asksForAnother(error) ? 1 : false;
  }

  function readPassword(): string | null {
    try {
      return parts.password === null ? null : parts.password();
    } catch (error) {
      complain(`the Redis password cannot be read, the last one is used: ${(error as Error).message}`);
      return null;
    }
  }

  function inTrouble(sentence: string): void {
    if (closed) return;
    if (trouble === null) checkSoon();
    trouble = sentence;
    complain(sentence);
  }

  function inOrder(): void {
    if (closed || trouble === null) return;
    trouble = null;
    inform('Redis answers');
  }

  async function ask<T>(
    question: () => Promise<unknown>,
    read: (reply: unknown) => T,
    shows: 'all is well' | 'no more than its answer',
  ): Promise<Asked<T>> {
    const connection = connections;
    try {
      const value = read(await question());
      if (shows === 'all is well') inOrder();
      return { kind: 'answered', value };
    } catch (error) {
      // A failure on an old connection says nothing about the current one.
      if (connection === connections) failedNow(error as Error);
      return { kind: 'failed' };
    }
  }

  function failedNow(error: Error): void {
    if (asksForAnother(error)) connectionError = error;
    inTrouble(redis.status === 'ready' ? explainFailure(error) : explainNotReady(redis.status, connectionError));
  }

  /** Refused by a Redis that would refuse the next admission: read-only, full, without the key's slot, or by its ACL. */
  async function check(): Promise<void> {
    if (redis.status !== 'ready') return;
    const asked = await ask(
      () => parts.tryOut(),
      () => null,
      'all is well',
    );
    if (asked.kind === 'answered') for (const listener of aliveListeners) listener();
  }

  function checkIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => void checkAgain(), ms).unref();
  }

  function checkSoon(): void {
    clearTimeout(checkTimer);
    checkTimer = checkIn(CHECK_MS.down);
  }

  async function checkAgain(): Promise<void> {
    await check();
    if (closed) return;
    clearTimeout(checkTimer);
    checkTimer = checkIn(trouble === null ? CHECK_MS.up : CHECK_MS.down);
  }

  async function warnOfEviction(): Promise<void> {
    const warning = await redis.info('memory').then(explainEviction, () => null);
    if (warning !== null) complain(warning);
  }

  return {
    redis,
    ask,
    get up() {
      return redis.status === 'ready' && trouble === null;
    },
    get trouble() {
      return trouble;
    },
    onReady: (listener) => listen(readyListeners, listener),
    onAlive: (listener) => listen(aliveListeners, listener),
    async close() {
      if (closed) return;
      closed = true;
      clearTimeout(checkTimer);
      trouble = 'Redis is no longer used: the gate closed the connection';
      // Between two attempts to connect there is nothing to close, and ioredis then emits no 'end'.
      const open = redis.status !== 'reconnecting' && redis.status !== 'end';
      const ended = new AbortController();
      redis.once('end', () => ended.abort());
      redis.disconnect();
      if (open) await pause(CLOSE_WITHIN_MS, clock, ended.signal);
    },
  };
}

function listen(listeners: Set<() => void>, listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function redisOptions(password: string | null) {
  return {
    ...commonOptions('tuneplane-gpu-gate', password),
    autoResendUnfulfilledCommands: false,
    commandTimeout: COMMAND_TIMEOUT_MS,
    connectTimeout: 2000,
    socketTimeout: 5000,
    // How long we wait for a peer that does not close its side after we closed ours.
    disconnectTimeout: 300,
    retryStrategy: (times: number) => Math.min(50 * 2 ** Math.min(times, 6), 2000),
  } as const;
}
