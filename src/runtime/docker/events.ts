/** The engine's container events, followed for as long as the gate runs. */

import type { Readable } from 'node:stream';
import type Docker from 'dockerode';
import type { Endings } from '../../model/ports/line.js';
import type { Clock, Log } from '../../model/ports/outside.js';
import { inTime } from '../../time/in-time.js';
import { pause } from '../../time/pause.js';
import { readEvents, type ContainerEvent } from './read-events.js';

export interface ContainerEvents extends Endings {
  /** Follows one container from now on. */
  follow(id: string): Followed;
  /** Different for each connection to the engine; null while there is none. */
  connection(): number | null;
  close(): void;
}

export interface Followed {
  /**
   * Call this once the engine has removed the container: whether it was started or ended since it is followed, and its exit
   * code (null: unknown). Null where no event said so, which proves nothing if the stream was broken.
   */
  hadRun(): Promise<{ readonly exitCode: number | null } | null>;
  stop(): void;
}

interface Follower {
  ran: { exitCode: number | null } | null;
  readonly destroyed: AbortController;
}

/** Events come in order, so after `destroy` there is nothing to wait for; a broken stream must not delay anyone. */
const DESTROYED_WITHIN_MS = 500;
const CONNECT_WITHIN_MS = 10_000;
/** From the first retry to the last: an engine that is down for hours is tried twice a minute. */
const AGAIN_AFTER_MS = { first: 500, most: 30_000 } as const;

export function createContainerEvents(options: {
  readonly docker: Docker;
  readonly clock: Clock;
  readonly log: Pick<Log, 'debug'>;
}): ContainerEvents {
  const { docker, clock, log } = options;
  const followers = new Map<string, Set<Follower>>();
  const onEnd: ((id: string) => void)[] = [];
  const closing = new AbortController();
  let connected = false;
  let connections = 0;

  function onEvent({ id, what, exitCode }: ContainerEvent): void {
    if (what !== 'start') for (const listener of onEnd) listener(id);
    for (const follower of followers.get(id) ?? []) {
      if (what === 'destroy') follower.destroyed.abort();
      else follower.ran = { exitCode: exitCode ?? follower.ran?.exitCode ?? null };
    }
  }

  async function listen(): Promise<void> {
    let waitMs: number = AGAIN_AFTER_MS.first;
    while (!closing.signal.aborted) {
      try {
        const stream = await connect(docker, clock, closing.signal);
        connected = true;
        connections += 1;
        waitMs = AGAIN_AFTER_MS.first;
        await readEvents(stream, onEvent);
      } catch (error) {
        log.debug({ err: error }, 'the stream of container events broke off');
      }
      connected = false;
      await pause(waitMs, clock, closing.signal);
      waitMs = Math.min(2 * waitMs, AGAIN_AFTER_MS.most);
    }
  }

  void listen();
  return {
    follow(id) {
      const follower: Follower = { ran: null, destroyed: new AbortController() };
      const all = followers.get(id) ?? new Set();
      followers.set(id, all.add(follower));
      return {
        async hadRun() {
          if (connected) await pause(DESTROYED_WITHIN_MS, clock, follower.destroyed.signal);
          return follower.ran;
        },
        stop() {
          all.delete(follower);
          if (all.size === 0) followers.delete(id);
        },
      };
    },
    onEnd: (listener) => void onEnd.push(listener),
    connection: () => (connected ? connections : null),
    close: () => closing.abort(),
  };
}

/** The stream, once the engine has begun to answer. Rejects on a timeout. */
async function connect(docker: Docker, clock: Clock, closing: AbortSignal): Promise<Readable> {
  const giveUp = new AbortController();
  const filters = { type: ['container'], event: ['start', 'die', 'destroy'] };
  const abortSignal = AbortSignal.any([giveUp.signal, closing]);
  const ask = docker.getEvents.bind(docker) as (options: object) => Promise<unknown>;
  const answered = await inTime(ask({ filters, abortSignal }), CONNECT_WITHIN_MS, clock);
  if (answered !== null) return answered.value as Readable;
  giveUp.abort();
  throw new Error(`no answer within ${CONNECT_WITHIN_MS} ms`);
}
