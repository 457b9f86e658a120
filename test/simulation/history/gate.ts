/** One life of a gate: the product's own parts, wired as in `wire.ts`, on a simulated engine, Redis and clock. */

import {
  createAdmissions,
  type AdmissionsPart,
  type AdmissionsParts,
  type AdmitSettings,
} from '../../../src/admission/admissions.js';
import { createRecentRuns } from '../../../src/admission/existing/recent-runs.js';
import { createFailedStarts, type FailedStarts } from '../../../src/admission/failed-starts.js';
import { createLeaseLock } from '../../../src/lock/lease.js';
import { localLock } from '../../../src/lock/local-lock.js';
import { createTurnQueue } from '../../../src/lock/queue.js';
import type { LockCommands } from '../../../src/lock/redis/commands.js';
import type { Runs } from '../../../src/model/ports/admissions.js';
import type { Books } from '../../../src/model/ports/books.js';
import type { Eyes } from '../../../src/model/ports/eyes.js';
import type { Hands } from '../../../src/model/ports/hands.js';
import type { Lock } from '../../../src/model/ports/lock.js';
import type { Meter } from '../../../src/model/ports/meter.js';
import type { Clock, Log } from '../../../src/model/ports/outside.js';
import type { GpuRow, RememberedCard, Snapshot } from '../../../src/model/snapshot.js';
import { createObserver } from '../../../src/observe/observer.js';
import { createRuns } from '../../../src/runs/runs.js';
import { createCreatedSince } from '../../../src/runtime/created-since.js';
import { createDockerBooks } from '../../../src/runtime/docker/books.js';
import { createContainerEvents } from '../../../src/runtime/docker/events.js';
import { createDockerHands, type DockerLimits } from '../../../src/runtime/docker/hands.js';
import { startSweeping } from '../../../src/runtime/left-overs.js';
import { rememberingHands } from '../../../src/runtime/remembering-hands.js';
import { healthyRows, rememberedOf, RULES } from '../../support/admissions.js';
import { engineClient, type ClientParts } from '../engine/client.js';
import type { Life } from '../process/life.js';
import type { LineWatch } from '../watch/overtaking.js';

/** The time limits of the contract divided by about ten, so that a history in which all of them expire is short. */
export const TIMES = {
  admitMs: 3000,
  startMs: 1500,
  pullWaitMs: 200,
  leaseMs: 4000,
  graceMs: 8000,
  reserveAfterMs: 2000,
  listMs: 1000,
  docker: {
    create: 7000,
    start: 10_000,
    look: 1000,
    remove: 1000,
    imageInspect: 1000,
    pullStall: 30_000,
  } satisfies DockerLimits,
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
  readonly line: LineWatch;
  /** Called for what the gate counts: `claimRace`, `leftOverRemoved`, `lockLost`. */
  readonly counted: (what: string) => void;
}

export interface SimulatedGate {
  readonly life: Life;
  readonly admissions: AdmissionsPart;
  /** Created on demand: most histories have no DELETE. */
  readonly runs: () => Runs;
}

export function startGate(parts: GateParts): SimulatedGate {
  const { life, random, log, line } = parts;
  const { clock } = life;
  const meter = meterTelling(parts.counted);
  const { remembered } = machineOf(parts.cards);
  const cardStore = { remembered: () => remembered };
  const recentRuns = createRecentRuns(clock);
  const createdSince = createCreatedSince(clock);
  const failedStarts = createFailedStarts(clock);
  const docker = engineClient({ ...parts.client, life, by: life.name });
  const books = createDockerBooks({ docker, clock, log, listTimeoutMs: TIMES.listMs, inspectTimeoutMs: TIMES.listMs });
  const events = createContainerEvents({ docker, clock, log });
  const handsOver = (client: typeof docker): Hands =>
    rememberingHands(createDockerHands({ ...HANDS, docker: client, clock, log, events }), (run) => {
      recentRuns.removed(run);
      meter.removedRun();
    });
  const hands = handsOver(docker);
  const lock = lockOf(parts, meter);
  const ground = { books, hands, lock, clock, meter, log, recentRuns, createdSince, failedStarts, cardStore };
  const admissions = createAdmissions({
    ...ground,
    hands: telling(hands, line),
    observer: createObserver(eyesOver(books, parts.cards, clock, failedStarts), SIGHT_RULES, 1000, line.looked),
    random,
    placeStore: { kept: [], keep: line.kept },
    endings: events,
    makeQueue: (serve) =>
      createTurnQueue({ lock, clock, serve: turnsTold(serve, line), onReleased: meter.lockHeldFor }),
    settings: settingsOf(parts),
  });
  startSweeping({ ...ground, standpoint: admissions.standpoint, graceMs: TIMES.graceMs });
  const toDelete = (): Runs => {
    const hands = handsOver(engineClient({ ...parts.client, life, by: `${life.name} DELETE` }));
    return createRuns({
      ...ground,
      hands,
      ...admissions.forRuns,
    });
  };
  let runs: Runs | null = null;
  return { life, admissions, runs: () => (runs ??= toDelete()) };
}

/** The same hands; the watch is told of each create before it is sent. */
function telling(hands: Hands, line: LineWatch): Hands {
  return {
    ...hands,
    create(spec, grant) {
      line.creating(spec);
      return hands.create(spec, grant);
    },
  };
}

/** The same turns; a turn confirms its lock right after it has decided. */
function turnsTold(serve: Serve, line: LineWatch): Serve {
  return (batch, hold) =>
    serve(batch, {
      lost: hold.lost,
      release: () => hold.release(),
      confirm() {
        line.decided(batch.map(({ job }) => job.spec.runId));
        return hold.confirm();
      },
    });
}

type Serve = Parameters<AdmissionsParts['makeQueue']>[0];

/** No claim depends on health and outside use, and judging them takes a tenth of a history. */
const SIGHT_RULES = { ...RULES, checkHealth: false, checkExternal: false };

const HANDS = {
  findAuth: async () => ({ kind: 'anonymous' }) as const,
  limits: TIMES.docker,
  lockedMemory: async () => -1,
};

function settingsOf({ life, random, commands, lockThrough }: GateParts): AdmitSettings {
  return {
    instanceId: `gate-${life.gate}`,
    life: hex16(random),
    alone: commands === null,
    admitWhenBlind: false,
    reserveAfterMs: TIMES.reserveAfterMs,
    admitTimeoutMs: TIMES.admitMs,
    startTimeoutMs: TIMES.startMs,
    claimGraceMs: TIMES.graceMs,
    pullWaitMs: TIMES.pullWaitMs,
    maxWaiting: 256,
    lockThrough,
  };
}

function lockOf({ life, commands, random, log }: GateParts, meter: Meter): Lock {
  if (commands === null) return localLock();
  return createLeaseLock({
    commands,
    key: 'gpu-alloc:leader',
    leaseMs: TIMES.leaseMs,
    clock: life.clock,
    log,
    meter,
    random: { fraction: random, hex16: () => hex16(random) },
  });
}

function hex16(random: () => number): string {
  return Math.floor(random() * 2 ** 48)
    .toString(16)
    .padStart(16, '0');
}

/** A machine of so many cards: all healthy, and known before. */
interface MachineOfCards {
  readonly rows: readonly GpuRow[];
  readonly remembered: readonly RememberedCard[];
}

/** Cached by number of cards. */
const machines = new Map<number, MachineOfCards>();

function machineOf(cards: number): MachineOfCards {
  const known = machines.get(cards);
  if (known !== undefined) return known;
  const rows = healthyRows(cards);
  const machine = { rows, remembered: rememberedOf(rows) };
  machines.set(cards, machine);
  return machine;
}

/** Eyes that see every card healthy and idle, over the current books. */
function eyesOver(books: Books, cards: number, clock: Clock, failedStarts: FailedStarts): Eyes {
  const { rows, remembered } = machineOf(cards);
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
      remembered,
      kernel: { kind: 'off' },
      exclusions: [],
      failedStarts: failedStarts.now(),
    };
  };
  return { fresh: look, recent: look, outdated: () => {} };
}

function meterTelling(counted: (what: string) => void): Meter {
  return {
    outcome: () => {},
    phase: () => {},
    lockHeldFor: () => {},
    lockLost: () => counted('lock lost'),
    claimRace: () => counted('claim race'),
    leftOverRemoved: () => counted('left-over removed'),
    removedRun: () => counted('removed run, told by its events'),
    granted: () => {},
    startFailed: () => {},
    xid: () => undefined,
    kernelLogGap: () => undefined,
    looked: () => {},
  };
}
