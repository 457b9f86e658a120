/** One life of a gate: the product's own parts, put together as `wire.ts` does it, on an engine, a Redis and a clock of ours. */

import { createAdmissions, type AdmissionsPart } from '../../../src/admission/admissions.js';
import type { TurnJob, TurnResult } from '../../../src/admission/serve-batch.js';
import { createLeaseLock } from '../../../src/lock/lease.js';
import { localLock } from '../../../src/lock/local-lock.js';
import { createTurnQueue } from '../../../src/lock/queue.js';
import type { LockCommands } from '../../../src/lock/redis/commands.js';
import type { Runs } from '../../../src/model/ports/admissions.js';
import type { Books } from '../../../src/model/ports/books.js';
import type { Eyes } from '../../../src/model/ports/eyes.js';
import type { Lock } from '../../../src/model/ports/lock.js';
import type { Meter } from '../../../src/model/ports/meter.js';
import type { Clock, Log } from '../../../src/model/ports/outside.js';
import type { GpuRow, Snapshot } from '../../../src/model/snapshot.js';
import { createObserver } from '../../../src/observe/observer.js';
import { createRuns } from '../../../src/runs/runs.js';
import { createDockerBooks } from '../../../src/runtime/docker/books.js';
import { createDockerHands, type DockerLimits } from '../../../src/runtime/docker/hands.js';
import { sweepLeftOvers } from '../../../src/runtime/left-overs.js';
import { healthyRows, rememberedOf, RULES } from '../../support/admissions.js';
import { engineClient, type ClientParts } from '../engine/client.js';
import type { Life } from '../process/life.js';

/** The time limits of the contract at about a tenth, so that a history in which they all pass is short. */
export const TIMES = {
  admitMs: 3000,
  startMs: 1500,
  pullWaitMs: 200,
  leaseMs: 4000,
  graceMs: 8000,
  listMs: 1000,
  docker: { create: 2000, start: 10_000, remove: 1000, imageInspect: 1000, pullStall: 30_000 } satisfies DockerLimits,
} as const;

export interface GateParts {
  readonly life: Life;
  readonly cards: number;
  readonly lockThrough: 'claim' | 'start';
  /** Null: no Redis. */
  readonly commands: LockCommands | null;
  readonly client: Omit<ClientParts, 'life' | 'by'>;
  readonly random: () => number;
  readonly log: Log;
  /** Told of what the gate counts: `claimRace`, `leftOverRemoved`, `lockLost`. */
  readonly counted: (what: string) => void;
}

export interface SimulatedGate {
  readonly life: Life;
  readonly admissions: AdmissionsPart;
  readonly runs: Runs;
  readonly lock: Lock;
}

export function startGate(parts: GateParts): SimulatedGate {
  const { life, random, log, cards } = parts;
  const { clock } = life;
  const docker = engineClient({ ...parts.client, life, by: life.name });
  const deleting = engineClient({ ...parts.client, life, by: `${life.name} DELETE` });
  const meter = meterTelling(parts.counted);
  const handsParts = {
    clock,
    log,
    findAuth: async () => ({ kind: 'anonymous' }) as const,
    limits: TIMES.docker,
    lockedMemory: async () => -1,
  };
  const books = createDockerBooks({ docker, clock, log, listTimeoutMs: TIMES.listMs, inspectTimeoutMs: TIMES.listMs });
  const hands = createDockerHands({ ...handsParts, docker });
  const rows = healthyRows(cards);
  const lock = lockOf(parts, meter);
  const instanceId = `gate-${life.gate}`;
  const cardStore = { remembered: () => rememberedOf(rows) };
  const admissions = createAdmissions({
    observer: createObserver(eyesOver(books, rows, clock), RULES, 1000),
    books,
    hands,
    cardStore,
    lock,
    clock,
    meter,
    log,
    random,
    makeQueue: (serve) =>
      createTurnQueue<TurnJob, TurnResult>({ lock, maxWaiting: 256, clock, serve, onReleased: meter.lockHeldFor }),
    settings: {
      instanceId,
      admitWhenBlind: false,
      admitTimeoutMs: TIMES.admitMs,
      startTimeoutMs: TIMES.startMs,
      pullWaitMs: TIMES.pullWaitMs,
      lockThrough: parts.lockThrough,
    },
  });
  const { launches } = admissions;
  const startedAtMs = clock.now();
  const sweep = (): void => {
    const swept = {
      books,
      hands,
      meter,
      log,
      instanceId,
      startedAtMs,
      graceMs: TIMES.graceMs,
      adopted: launches.adopted,
    };
    void sweepLeftOvers(swept, clock.now());
    clock.after(Math.max(1000, TIMES.graceMs / 4), sweep);
  };
  sweep();
  const runs = createRuns({
    books,
    hands: createDockerHands({ ...handsParts, docker: deleting }),
    cardStore,
    launches,
  });
  return { life, admissions, runs, lock };
}

function lockOf({ life, commands, random, log }: GateParts, meter: Meter): Lock {
  if (commands === null) return localLock();
  const hex16 = (): string =>
    Math.floor(random() * 2 ** 48)
      .toString(16)
      .padStart(16, '0');
  return createLeaseLock({
    commands,
    key: 'gpu-alloc:leader',
    leaseMs: TIMES.leaseMs,
    clock: life.clock,
    log,
    meter,
    random: { fraction: random, hex16 },
  });
}

/** Eyes to which every card is healthy and idle, over the books that there are. */
function eyesOver(books: Books, rows: readonly GpuRow[], clock: Clock): Eyes {
  const seen = <T>(value: T) => ({ kind: 'seen', value, tookMs: 1 }) as const;
  const look = async (): Promise<Snapshot> => {
    const startedAtMs = clock.now();
    const docker = await books.list();
    return {
      startedAtMs,
      endedAtMs: clock.now(),
      gpus: seen({ rows, broken: [], driverCount: rows.length, driverVersion: '590.48.01' }),
      processes: seen([]),
      health: seen(null),
      docker,
      links: null,
      remembered: rememberedOf(rows),
      exclusions: [],
    };
  };
  return { fresh: look, recent: look, outdated: () => {} };
}

function meterTelling(counted: (what: string) => void): Meter {
  return {
    outcome: () => {},
    toldToWait: () => {},
    noLongerWaiting: () => {},
    phase: () => {},
    lockHeldFor: () => {},
    lockLost: () => counted('lock lost'),
    claimRace: () => counted('claim race'),
    leftOverRemoved: () => counted('left-over removed'),
    granted: () => {},
    startFailed: () => {},
    looked: () => {},
  };
}
