/** Snapshots for tests of the judge: everything healthy and idle unless given otherwise. */

import { cardIndex, cardUuid } from '../../src/model/card.js';
import type { JudgeRules } from '../../src/model/occupancy.js';
import type {
  BlindReason,
  ComputeProcess,
  GpuRow,
  GpusSeen,
  HealthReadings,
  Probed,
  Reading,
  Readings,
  RememberedCard,
  SeenContainer,
  Snapshot,
} from '../../src/model/snapshot.js';
import { wellHealth } from '../support/columns.js';

export const value = <T>(is: T): Reading<T> => ({ kind: 'value', value: is });
export const absent: Reading<never> = { kind: 'absent' };
export const cannotSay: Reading<never> = { kind: 'cannot_say', words: '[N/A]' };
export const denied: Reading<never> = { kind: 'denied', words: '[Insufficient Permissions]' };
export const lost: Reading<never> = { kind: 'error', words: '[GPU is lost]' };
export const unreadable: Reading<never> = { kind: 'unreadable', words: 'Unknown' };

export const seen = <T>(is: T): Probed<T> => ({ kind: 'seen', value: is, tookMs: 80 });
export const blind = (why: BlindReason = 'exit', detail = 'nvidia-smi exited 9'): Probed<never> => ({
  kind: 'blind',
  why,
  detail,
  tookMs: 12,
});

/** `GPU-aaaaaaaa-…` for 0, `GPU-bbbbbbbb-…` for 1, and so on. */
export function uuidOf(number: number) {
  const letter = 'abcdef0123456789'[number] ?? 'f';
  return cardUuid(`GPU-${letter.repeat(8)}-0000-4000-8000-${String(number).padStart(12, '0')}`);
}
export const busOf = (number: number): string => `00000000:${(0x10 + number).toString(16).toUpperCase()}:00.0`;

/** As an H100 without NVSwitch reports on branch 590. */
const h100Health: HealthReadings = {
  ...wellHealth(),
  retiredPagesPending: cannotSay,
  resetRequired: absent,
  fabricState: cannotSay,
  fabricStatus: cannotSay,
};

/** The differences of a row: its card, or its columns. */
type RowChange = Partial<Omit<GpuRow, 'readings'>> &
  Partial<Pick<Readings, 'memoryUsedMib' | 'memoryTotalMib' | 'persistenceMode' | 'migMode'>> & {
    readonly health?: Partial<HealthReadings>;
    readonly readings?: Partial<Readings>;
  };

/** Card `number` at index `number`, idle and healthy. */
export function row(number: number, but: RowChange = {}): GpuRow {
  const { health, readings, memoryUsedMib, memoryTotalMib, persistenceMode, migMode, ...who } = but;
  return {
    index: cardIndex(number),
    uuid: uuidOf(number),
    name: NAME,
    pciBusId: busOf(number),
    driverVersion: DRIVER,
    readings: {
      index: value(number),
      uuid: value(uuidOf(number)),
      name: value(NAME),
      pciBusId: value(busOf(number)),
      driverVersion: value(DRIVER),
      count: value(8),
      memoryUsedMib: memoryUsedMib ?? value(4),
      memoryTotalMib: memoryTotalMib ?? value(81559),
      persistenceMode: persistenceMode ?? value('Enabled'),
      migMode: migMode ?? value('Disabled'),
      computeMode: value('Default'),
      utilizationPercent: value(0),
      temperatureCelsius: value(31),
      powerWatts: value(71.23),
      ...h100Health,
      ...health,
      ...readings,
    },
    short: false,
    ...who,
  };
}
const NAME = 'NVIDIA H100 80GB HBM3';
const DRIVER = '590.44.01';

export function gpus(rows: readonly GpuRow[], but: Partial<GpusSeen> = {}): Probed<GpusSeen> {
  return seen({ rows, broken: [], driverCount: rows.length, driverVersion: '590.44.01', ...but });
}

export const rowsUpTo = (count: number): GpuRow[] => Array.from({ length: count }, (_, number) => row(number));

export function remember(number: number, index = number): RememberedCard {
  return { uuid: uuidOf(number), index: cardIndex(index), name: 'NVIDIA H100 80GB HBM3', pciBusId: busOf(number) };
}

export function processOn(number: number, but: Partial<ComputeProcess> = {}): ComputeProcess {
  return { uuid: uuidOf(number), pid: 4242, name: 'python', memoryMib: 812, ...but };
}

let made = 0;
/** A running container without a claim, given no cards. */
export function container(name: string, but: Partial<SeenContainer> = {}): SeenContainer {
  made += 1;
  return {
    id: `${name}-id-${made}`,
    name,
    state: 'running',
    outOfReach: false,
    createdAtMs: 1000 + made,
    labels: {},
    claim: null,
    pinned: { kind: 'none' },
    ...but,
  };
}

/** A job of this run on the cards with these numbers, as this gate labels it. */
export function job(runId: string, numbers: readonly number[], but: Partial<SeenContainer> = {}): SeenContainer {
  return container(`tuneplane-${runId}`, {
    labels: { 'tuneplane.run_id': runId, 'tuneplane.gpus': numbers.join(',') },
    claim: { uuids: numbers.map(uuidOf), indices: [], indicesBeside: numbers.map(cardIndex), unread: [] },
    ...but,
  });
}

/** A job of an older agent: indices only. */
export function olderJob(name: string, indices: readonly number[], but: Partial<SeenContainer> = {}): SeenContainer {
  return container(name, {
    labels: { 'tuneplane.gpus': indices.join(',') },
    claim: { uuids: [], indices: indices.map(cardIndex), unread: [] },
    ...but,
  });
}

export const docker = (...containers: SeenContainer[]) => seen({ containers });

/** Eight idle cards, no containers. */
export function snapshot(but: Partial<Snapshot> = {}): Snapshot {
  return {
    startedAtMs: 1_764_417_600_000,
    endedAtMs: 1_764_417_600_090,
    gpus: gpus(rowsUpTo(8)),
    processes: seen([]),
    health: seen(null),
    docker: docker(),
    links: null,
    remembered: [],
    kernel: { kind: 'off' },
    exclusions: [],
    ...but,
  };
}

export function rules(but: Partial<JudgeRules> = {}): JudgeRules {
  return {
    memoryBusyMib: 512,
    configuredCount: 0,
    checkExternal: true,
    checkHealth: true,
    clusterProfile: null,
    excludeCards: [],
    ...but,
  };
}
