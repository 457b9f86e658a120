import type { LockCommands } from '../../../src/lock/redis/commands.js';
import type { Life } from '../process/life.js';
import type { Server, Wire } from '../process/wire.js';
import type { ModelRedis } from './redis.js';

/** The connection to the Redis in memory, and its listeners. */
export interface RedisClient {
  readonly commands: LockCommands;
  /** The connection broke. Retries until Redis listens. */
  lost(): void;
}

const COMMAND_TIMEOUT_MS = 1000;
/** How soon to check again whether Redis answers. While it does, no check is needed: every question shows it. */
const CHECK_MS = 1000;
const CONNECT_AFTER_MS = 100;

/**
 * The three commands on the lock, over the wire: each settles within a second of the process' own clock, nothing is queued,
 * and listeners are called for each new connection, and for each answer.
 */
export function redisClient(parts: {
  readonly redis: ModelRedis;
  readonly wire: Wire;
  readonly life: Life;
  readonly server: Server;
}): RedisClient {
  const { redis, wire, life, server } = parts;
  const { clock } = life;
  const ready = new Set<() => void>();
  const alive = new Set<() => void>();
  let connected = false;
  let trouble = true;
  let checks = false;

  function connect(): void {
    clock.after(CONNECT_AFTER_MS, () => {
      if (server.down) return connect();
      connected = true;
      for (const told of ready) told();
      void check();
    });
  }

  type Asked<T> = { readonly kind: 'answered'; readonly value: T } | { readonly kind: 'failed' };

  function ask<T>(about: string, carryOut: () => T): Promise<Asked<T>> {
    if (!connected) return Promise.resolve({ kind: 'failed' });
    return new Promise((resolve) => {
      const settle = (asked: Asked<T>): void => {
        callOff();
        trouble = asked.kind === 'failed';
        if (trouble) checkSoon();
        resolve(asked);
      };
      const callOff = clock.after(COMMAND_TIMEOUT_MS, () => settle({ kind: 'failed' }));
      const serve = (_fate: unknown, finish: (answer: { status: number; body: unknown }) => void): void =>
        finish({ status: 200, body: carryOut() });
      const hear = async (): Promise<void> => {
        const came = await wire.ask(life, { about, serve });
        const isAnswer = typeof came === 'object' && came.status === 200;
        settle(isAnswer ? { kind: 'answered', value: came.body as T } : { kind: 'failed' });
      };
      void hear();
    });
  }

  async function check(): Promise<void> {
    const asked = await ask('check', () => true);
    if (asked.kind === 'answered') for (const told of alive) told();
  }

  function checkSoon(): void {
    if (checks) return;
    checks = true;
    clock.after(CHECK_MS, () => {
      checks = false;
      void check();
    });
  }

  connect();
  return {
    lost() {
      if (!connected) return;
      connected = false;
      trouble = true;
      connect();
    },
    commands: {
      async acquire(token, leaseMs) {
        const untilMs = clock.now() + COMMAND_TIMEOUT_MS;
        const asked = await ask('acquire', () => redis.acquire(token, leaseMs, untilMs));
        if (asked.kind === 'failed' || asked.value === null) return { kind: 'failed' };
        return { kind: 'answered', value: asked.value };
      },
      renew: (token, leaseMs) => ask('renew', () => redis.renew(token, leaseMs)),
      release: (token) => ask('release', () => redis.release(token)),
      get up() {
        return connected && !trouble;
      },
      get trouble() {
        return connected && !trouble ? null : 'Redis does not answer';
      },
      onReady: (told) => listen(ready, told),
      onAlive: (told) => listen(alive, told),
      close: async () => {},
    },
  };
}

function listen(listeners: Set<() => void>, told: () => void): () => void {
  listeners.add(told);
  return () => listeners.delete(told);
}
