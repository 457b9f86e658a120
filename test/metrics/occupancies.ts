/** Hand-made occupancies, from which tests render pages: a test gives what matters, the rest is a healthy free card. */

import { CARD_STATES, cardIndex, cardUuid, HEALTH_REASONS, type CardState } from '../../src/model/card.js';
import type { Claim, JudgedCard, Occupancy, ProbeReport } from '../../src/model/occupancy.js';
import type { GateStatus } from '../../src/model/ports/admissions.js';
import type { Observation } from '../../src/model/ports/eyes.js';
import type { Clock } from '../../src/model/ports/outside.js';
import { PROBES, type BlindReason, type Probed, type ProbeName, type Snapshot } from '../../src/model/snapshot.js';
import { systemClock } from '../../src/time/system-clock.js';

/** 2026-11-29T12:00:00Z, when the looks of these tests begin; they take 100 ms. */
export const LOOK_AT_MS = Date.UTC(2026, 10, 29, 12);

/** The result of a probe: seen, switched off, or blind and why. */
export type Fared = 'seen' | 'off' | BlindReason;

/** A card as the driver shows it: free, healthy, nothing on it. */
export function card(index: number, but: Partial<JudgedCard> = {}): JudgedCard {
  return {
    index: cardIndex(index),
    uuid: cardUuid(`GPU-0000000${index}`),
    name: 'NVIDIA H100 80GB HBM3',
    pciBusId: `00000000:${index}B:00.0`,
    driverVersion: '550.54.15',
    series: 'nvidia h100 80gb hbm3',
    state: 'free',
    claims: [],
    excluded: null,
    external: null,
    unhealthy: [],
    warnings: [],
    health: Object.fromEntries(HEALTH_REASONS.map((reason) => [reason, false])),
    warned: { row_remap_pending: false, process_list_blind: false },
    unknownBecause: null,
    processes: 0,
    failedStarts: 0,
    memoryUsedBytes: 4 * 1024 * 1024,
    memorySizeBytes: 80 * 1024 ** 3,
    persistenceMode: true,
    utilization: 0,
    temperatureCelsius: 31,
    powerWatts: 71.23,
    heldIdleSeconds: null,
    ...but,
  };
}

/** An unreadable card, as when nvidia-smi is blind. */
export function unseenCard(index: number, but: Partial<JudgedCard> = {}): JudgedCard {
  const nothing = { driverVersion: null, processes: null, memoryUsedBytes: null, memorySizeBytes: null };
  const load = { utilization: null, temperatureCelsius: null, powerWatts: null };
  return card(index, { ...nothing, ...load, persistenceMode: null, health: {}, warned: {}, state: 'unknown', ...but });
}

/** A running container's claim. */
export function claim(runId: string): Claim {
  const container = `tuneplane-${runId}`;
  const at = { state: 'running', createdAtMs: LOOK_AT_MS - 60_000 } as const;
  return {
    runId,
    container,
    containerId: `id-of-${container}`,
    ...at,
    principal: 'console',
    labels: {},
    image: null,
    command: null,
  };
}

/** One look, with its occupancy. */
export function watched(
  cards: readonly JudgedCard[],
  fared: Partial<Record<ProbeName, Fared>> = {},
  but: Partial<Occupancy> = {},
): Observation {
  const probes = Object.fromEntries(
    PROBES.map((probe) => [probe, report(probe, fared[probe] ?? (probe === 'kernel' ? 'off' : 'seen'))]),
  );
  const count = (state: CardState): number => cards.filter((each) => each.state === state).length;
  const occupancy: Occupancy = {
    observedAtMs: LOOK_AT_MS,
    cards,
    counts: Object.fromEntries(CARD_STATES.map((state) => [state, count(state)])) as Record<CardState, number>,
    expected: cards.length,
    externalProbeOk: (fared.gpus ?? 'seen') === 'seen',
    series: 'nvidia h100 80gb hbm3',
    probes: probes as Record<ProbeName, ProbeReport>,
    notes: [],
    explain: '',
    links: null,
    ...but,
  };
  return { snapshot: snapshot(fared), occupancy };
}

/** A snapshot with these probe results; the seen values are empty, since a page is made from the occupancy. */
export function snapshot(fared: Partial<Record<ProbeName, Fared>> = {}, startedAtMs = LOOK_AT_MS): Snapshot {
  const gpus = { rows: [], broken: [], driverCount: null, driverVersion: null };
  return {
    startedAtMs,
    endedAtMs: startedAtMs + 100,
    gpus: probed(gpus, fared.gpus),
    processes: fared.processes === 'off' ? { kind: 'off' } : probed([], fared.processes),
    health: fared.health === 'off' ? { kind: 'off' } : probed(null, fared.health),
    docker: probed({ containers: [] }, fared.docker),
    kernel: (fared.kernel ?? 'off') === 'off' ? { kind: 'off' } : probed(null, fared.kernel),
    links: null,
    remembered: [],
    exclusions: [],
  };
}

/** An idle gate without Redis. */
export const IDLE: GateStatus = {
  inFlight: 0,
  lockWaiters: 0,
  lockHeld: false,
  redisUp: null,
  draining: false,
  line: { waiting: 0, oldestMs: null },
};

/** A clock that only advances on command. */
export function handClock(): Clock & { forward(milliseconds: number): void } {
  let passed = 0;
  return {
    ...systemClock,
    now: () => LOOK_AT_MS + passed,
    monotonic: () => passed,
    forward(milliseconds) {
      passed += milliseconds;
    },
  };
}

function report(probe: ProbeName, fared: Fared): ProbeReport {
  if (fared === 'off') return { probe, state: 'off', why: null, detail: null, tookMs: null };
  if (fared === 'seen') return { probe, state: 'ok', why: null, detail: null, tookMs: 80 };
  return { probe, state: 'failed', why: fared, detail: 'in the words of the probe', tookMs: 250 };
}

function probed<T>(value: T, fared: Fared = 'seen'): Probed<T> {
  if (fared === 'seen') return { kind: 'seen', value, tookMs: 80 };
  return { kind: 'blind', why: fared === 'off' ? 'unavailable' : fared, detail: 'in its words', tookMs: 250 };
}
