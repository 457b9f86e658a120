/** Admissions over the fake runtime and a machine of healthy cards, with the real judge, pick, queue and starts. */

import type { Admission, TurnResult } from '../../src/admission/admission.js';
import { createAdmissions, type AdmissionsPart, type AdmitSettings } from '../../src/admission/admissions.js';
import { createRecentRuns, type RecentRuns } from '../../src/admission/existing/recent-runs.js';
import { createFailedStarts, type FailedStarts } from '../../src/admission/failed-starts.js';
import { localLock } from '../../src/lock/local-lock.js';
import { createTurnQueue } from '../../src/lock/queue.js';
import type { JobSpec } from '../../src/model/admission.js';
import { cardIndex, cardUuid } from '../../src/model/card.js';
import type { JudgeRules } from '../../src/model/occupancy.js';
import type { CreatedSince } from '../../src/model/ports/created-since.js';
import type { Eyes } from '../../src/model/ports/eyes.js';
import type { PlaceStore } from '../../src/model/ports/line.js';
import type { Lock } from '../../src/model/ports/lock.js';
import type { Meter } from '../../src/model/ports/meter.js';
import type { Clock, Log } from '../../src/model/ports/outside.js';
import type { GpuRow, RememberedCard, Snapshot } from '../../src/model/snapshot.js';
import { createObserver } from '../../src/observe/observer.js';
import { createCreatedSince } from '../../src/runtime/created-since.js';
import { rememberingHands } from '../../src/runtime/remembering-hands.js';
import { systemClock } from '../../src/time/system-clock.js';
import { wellHealth } from './columns.js';
import type { FakeRuntime } from './fake-runtime.js';

export const RULES: JudgeRules = {
  memoryBusyMib: 512,
  configuredCount: 0,
  checkExternal: true,
  checkHealth: true,
  clusterProfile: null,
  excludeCards: [],
};

export const SETTINGS: AdmitSettings = {
  instanceId: 'gate-a',
  life: 'life-1',
  alone: false,
  claimGraceMs: 300_000,
  maxWaiting: 256,
  admitWhenBlind: false,
  reserveAfterMs: null,
  admitTimeoutMs: 2000,
  startTimeoutMs: 500,
  pullWaitMs: 100,
  lockThrough: 'claim',
};

export const quietLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

export interface CountingMeter extends Meter {
  readonly counted: Record<string, number>;
}

/** Counts how often each thing was reported. */
export function countingMeter(): CountingMeter {
  const counted: Record<string, number> = {};
  const count = (what: string, by = 1): void => void (counted[what] = (counted[what] ?? 0) + by);
  return {
    counted,
    outcome: (outcome) => count(`outcome ${outcome}`),
    phase: (phase) => count(`phase ${phase}`),
    lockHeldFor: () => count('lockHeldFor'),
    lockLost: () => count('lockLost'),
    claimRace: () => count('claimRace'),
    leftOverRemoved: () => count('leftOverRemoved'),
    removedRun: () => count('removedRun'),
    granted: (cards) => count('granted', cards),
    startFailed: (cards) => count('startFailed', cards.length),
    xid: () => undefined,
    kernelLogGap: () => undefined,
    looked: () => count('looked'),
  };
}

export function uuidOf(index: number): string {
  return `GPU-${String(index).padStart(8, '0')}-0000-4000-8000-000000000000`;
}

const busOf = (index: number): string => `00000000:${(16 + index).toString(16).toUpperCase()}:00.0`;

/** Rows of healthy idle cards. */
export function healthyRows(cards: number): GpuRow[] {
  const value = <T>(it: T) => ({ kind: 'value', value: it }) as const;
  return Array.from({ length: cards }, (_, at) => ({
    index: cardIndex(at),
    uuid: cardUuid(uuidOf(at)),
    name: 'NVIDIA H100 80GB HBM3',
    pciBusId: busOf(at),
    driverVersion: '590.48.01',
    readings: {
      index: value(at),
      uuid: value(uuidOf(at)),
      name: value('NVIDIA H100 80GB HBM3'),
      pciBusId: value(busOf(at)),
      driverVersion: value('590.48.01'),
      count: value(cards),
      memoryUsedMib: value(0),
      memoryTotalMib: value(81559),
      persistenceMode: value('Enabled'),
      migMode: value('Disabled'),
      utilizationPercent: value(0),
      temperatureCelsius: value(31),
      powerWatts: value(71.23),
      computeMode: value('Default'),
      ...wellHealth(),
    },
    short: false,
  }));
}

/** Eyes that see these rows, and whatever the runtime lists. `rows` may be changed; null is a blind probe. */
export function fakeEyes(
  runtime: FakeRuntime,
  machine: { rows: GpuRow[] | null },
  failedStarts: Pick<FailedStarts, 'now'> = { now: () => new Map() },
): Eyes & { looks: number } {
  const look = async (): Promise<Snapshot> => {
    eyes.looks++;
    const startedAtMs = Date.now();
    const blind = { kind: 'blind', why: 'exit', detail: 'nvidia-smi exited with 9', tookMs: 1 } as const;
    const docker = await runtime.list();
    return {
      startedAtMs,
      endedAtMs: Date.now(),
      gpus: machine.rows
        ? {
            kind: 'seen',
            value: { rows: machine.rows, broken: [], driverCount: machine.rows.length, driverVersion: '590.48.01' },
            tookMs: 1,
          }
        : blind,
      processes: machine.rows ? { kind: 'seen', value: [], tookMs: 1 } : blind,
      health: machine.rows ? { kind: 'seen', value: null, tookMs: 1 } : blind,
      docker,
      links: null,
      remembered: rememberedOf(machine.rows ?? []),
      kernel: { kind: 'off' },
      exclusions: [],
      failedStarts: failedStarts.now(),
    };
  };
  const eyes = { looks: 0, fresh: look, recent: look, outdated: () => {} };
  return eyes;
}

export function rememberedOf(rows: readonly GpuRow[]): RememberedCard[] {
  return rows.flatMap(({ uuid, index, name, pciBusId }) =>
    uuid && index !== null && name && pciBusId ? [{ uuid, index, name, pciBusId }] : [],
  );
}

export interface TestDesk extends AdmissionsPart {
  readonly recentRuns: RecentRuns;
  readonly createdSince: CreatedSince;
  readonly meter: CountingMeter;
  readonly machine: { rows: GpuRow[] | null };
}

export function testDesk(
  runtime: FakeRuntime,
  options: {
    cards?: number;
    settings?: Partial<AdmitSettings>;
    lock?: Lock;
    random?: () => number;
    clock?: Clock;
    placeStore?: PlaceStore;
  } = {},
): TestDesk {
  const machine: { rows: GpuRow[] | null } = { rows: healthyRows(options.cards ?? 4) };
  const lock = options.lock ?? localLock();
  const meter = countingMeter();
  const clock = options.clock ?? systemClock;
  const failedStarts = createFailedStarts(clock);
  const observer = createObserver(fakeEyes(runtime, machine, failedStarts), RULES, 1000);
  const recentRuns = createRecentRuns(clock);
  const createdSince = createCreatedSince(clock);
  const hands = rememberingHands(runtime, (run) => {
    recentRuns.removed(run);
    meter.removedRun();
  });
  const desk = createAdmissions({
    observer,
    books: runtime,
    hands,
    recentRuns,
    createdSince,
    failedStarts,
    cardStore: { remembered: () => rememberedOf(machine.rows ?? []) },
    lock,
    clock,
    meter,
    log: quietLog,
    random: options.random ?? Math.random,
    placeStore: options.placeStore ?? { kept: [], keep: () => {} },
    endings: { onEnd: (listener) => runtime.onEnd(listener) },
    makeQueue: (serve) =>
      createTurnQueue<Admission, TurnResult>({
        lock,
        clock: systemClock,
        serve,
        onReleased: meter.lockHeldFor,
      }),
    settings: { ...SETTINGS, ...options.settings },
  });
  return { ...desk, meter, machine, recentRuns, createdSince };
}

export function jobSpec(runId: string, count = 1, over: Partial<JobSpec['container']> = {}): JobSpec {
  return {
    runId,
    count,
    container: {
      image: 'gate-test:latest',
      env: {},
      mounts: [],
      labels: {},
      ulimits: {},
      ports: [],
      devices: [],
      capAdd: [],
      ...over,
    },
    specSha256: `sha-${count}-${JSON.stringify(over)}`,
    pidsLimit: 100,
  };
}

export const nobodyGone = (): AbortSignal => new AbortController().signal;
export const console_ = { name: 'console', roles: ['admit'] } as const;
