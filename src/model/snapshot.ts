/** One round of probes and what came back. Nothing here is judged yet; this file imports nouns only. */

import type { CardIndex, CardUuid } from './card.js';

/** Why a probe could not see; also the `reason` label of `tuneplane_gpu_probe_failures_total`. */
export const BLIND_REASONS = ['spawn', 'exit', 'timeout', 'parse', 'overlap', 'unavailable'] as const;
export type BlindReason = (typeof BLIND_REASONS)[number];

/** The probes of one look; also the `probe` label of the probe metrics. */
export const PROBES = ['gpus', 'processes', 'health', 'docker'] as const;
export type ProbeName = (typeof PROBES)[number];

/** What one probe gave us. Being blind is an answer, never an exception. `detail` is written for the operator. */
export type Probed<T> =
  | { readonly kind: 'seen'; readonly value: T; readonly tookMs: number }
  | { readonly kind: 'blind'; readonly why: BlindReason; readonly detail: string; readonly tookMs: number };

/** A probe that the operator switched off: nobody asked, so nothing can be concluded from it. */
export type Off = { readonly kind: 'off' };

/**
 * What one column of one row said.
 * `absent`: the driver does not know the column (or nobody asked). `cannot_say`: `[N/A]`, `N/A`, `[Not Supported]`.
 * `denied`: permission words. `error`: any other words in brackets, or `ERR!`. `unreadable`: text that is no value of its column.
 */
export type Reading<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'absent' }
  | { readonly kind: 'cannot_say'; readonly words: string }
  | { readonly kind: 'denied'; readonly words: string }
  | { readonly kind: 'error'; readonly words: string }
  | { readonly kind: 'unreadable'; readonly words: string };

/** What the health columns said, in the words of the driver; `model/columns` says what they mean. */
export interface HealthReadings {
  readonly retiredPagesPending: Reading<string>;
  readonly eccUncorrected: Reading<string>;
  readonly hwSlowdown: Reading<string>;
  readonly rowRemapFailure: Reading<string>;
  readonly rowRemapPending: Reading<string>;
  readonly recoveryAction: Reading<string>;
  readonly resetRequired: Reading<string>;
  readonly fabricState: Reading<string>;
  readonly fabricStatus: Reading<string>;
}

/** What each column of a row said. Every reading has one column in `model/columns`, and every column there feeds one of these. */
export interface Readings extends HealthReadings {
  readonly index: Reading<number>;
  readonly uuid: Reading<string>;
  readonly name: Reading<string>;
  /** As the driver prints it: `00000000:4E:00.0`. */
  readonly pciBusId: Reading<string>;
  readonly driverVersion: Reading<string>;
  /** How many cards the driver counts; every row says it. */
  readonly count: Reading<number>;
  readonly memoryUsedMib: Reading<number>;
  readonly memoryTotalMib: Reading<number>;
  readonly persistenceMode: Reading<string>;
  readonly migMode: Reading<string>;
}

/**
 * One row of `--query-gpu` of a run that exited 0: which card it is of, and what its columns said. A row in which the card's
 * own uuid is an error word has `uuid` null and `index` null where that is unreadable too; the look gives such a row the place
 * that the other rows leave open, where there is only one.
 */
export interface GpuRow {
  readonly index: CardIndex | null;
  readonly uuid: CardUuid | null;
  readonly name: string | null;
  readonly pciBusId: string | null;
  readonly driverVersion: string | null;
  readonly readings: Readings;
  /** True when the row had fewer columns than were asked for, or they do not stand where they should: the card is there, and nothing more can be said. */
  readonly short: boolean;
}

/** A card that the driver complained about instead of showing it: its own sentence is the reason. */
export interface BrokenCard {
  /** The place it has in `-L`, where that can be told. */
  readonly index: CardIndex | null;
  readonly pciBusId: string | null;
  /** The driver's words after the colon: `GPU is lost.  Reboot the system to recover this GPU`. */
  readonly words: string;
  /** True where the words speak of permissions: the card may be fine, it could not be seen. */
  readonly denied: boolean;
}

export interface GpusSeen {
  readonly rows: readonly GpuRow[];
  readonly broken: readonly BrokenCard[];
  /** How many cards the driver itself counts, where it said so. */
  readonly driverCount: number | null;
  readonly driverVersion: string | null;
}

/** One row of the process list with a numeric pid; a row without one is no process. */
export interface ComputeProcess {
  readonly uuid: CardUuid;
  readonly pid: number;
  readonly name: string;
  /** Null where the driver could not say. */
  readonly memoryMib: number | null;
}

/** How fast two cards reach each other, best first, in the words of `nvidia-smi topo -m`. */
export const LINK_KINDS = ['NV', 'PIX', 'PXB', 'PHB', 'NODE', 'SYS'] as const;
export type LinkKind = (typeof LINK_KINDS)[number];

/** The link between two cards by uuid; both directions are there. Null where `topo -m` could not be read. */
export type Links = ReadonlyMap<CardUuid, ReadonlyMap<CardUuid, LinkKind>>;

/** A card that was seen once: what is missing later keeps its name and uuid. Kept in the state folder. */
export interface RememberedCard {
  readonly uuid: CardUuid;
  readonly index: CardIndex;
  readonly name: string;
  readonly pciBusId: string;
}

/** A card taken out on purpose, by an operator's call or by the settings. */
export interface Exclusion {
  readonly uuid: CardUuid;
  readonly reason: string;
  /** ISO 8601, UTC. */
  readonly since: string;
  readonly principal: string;
}

/** Docker's own words for what a container is doing. */
export const CONTAINER_STATES = ['created', 'running', 'paused', 'restarting', 'removing', 'exited', 'dead'] as const;
export type ContainerState = (typeof CONTAINER_STATES)[number];

/**
 * The cards that a claim names. `uuids` from `tuneplane.gpu-uuids`, or for a claim by indices alone from its device request;
 * `indices` from `tuneplane.gpus`, empty where `tuneplane.gpu-uuids` decides; `unread` is what could not be read as either.
 * `indicesBeside` says for each of `uuids` which index was written at its place, for people and for a driver that shows no
 * uuids; null where that was no number, left out where the two lists are not equally long.
 */
export interface ClaimedCards {
  readonly uuids: readonly CardUuid[];
  readonly indices: readonly CardIndex[];
  readonly indicesBeside?: readonly (CardIndex | null)[];
  readonly unread: readonly string[];
}

/** Which cards a foreign container was given. `some` holds ids as written: a uuid, an index or a MIG id. */
export type Pinned =
  | { readonly kind: 'none' }
  | { readonly kind: 'all' }
  | { readonly kind: 'some'; readonly ids: readonly string[] }
  /** The inspect did not answer in time, or made no sense: a warning, not a failed probe. */
  | { readonly kind: 'not_told'; readonly detail: string };

/** One container, or one process of the process runtime, as the books show it. */
export interface SeenContainer {
  readonly id: string;
  /** Without the leading slash. */
  readonly name: string;
  readonly state: ContainerState;
  /**
   * True where nobody can tell from here whether it still lives: a process of a pid namespace that cannot be seen into. It counts
   * as running and holds its cards, until an operator gives it up.
   */
  readonly outOfReach: boolean;
  /** Epoch milliseconds of its creation. */
  readonly createdAtMs: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Null where it carries neither claim label. Whatever its state: whether it holds is `holds(state)`. */
  readonly claim: ClaimedCards | null;
  /** Only meaningful for a container without a claim that is running, paused or restarting. */
  readonly pinned: Pinned;
}

export interface ContainersSeen {
  readonly containers: readonly SeenContainer[];
}

/**
 * One look: everything the gate knows at one moment, immutable. A page, an answer and a log line are each made from one of
 * these and never from two.
 */
export interface Snapshot {
  /** Epoch milliseconds. */
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly gpus: Probed<GpusSeen>;
  readonly processes: Probed<readonly ComputeProcess[]> | Off;
  /** The cards whose process list the driver could not read, the others' being there. Left out: none. */
  readonly unlisted?: readonly CardUuid[];
  /** Whether the health columns could be asked at all; the readings themselves are in the rows. */
  readonly health: Probed<null> | Off;
  readonly docker: Probed<ContainersSeen>;
  readonly links: Links | null;
  /** The cards seen before and not forgotten, this look's own included. */
  readonly remembered: readonly RememberedCard[];
  readonly exclusions: readonly Exclusion[];
}

/** The states in which the process of a container is there. */
export function isAlive(state: ContainerState): boolean {
  return state === 'running' || state === 'paused' || state === 'restarting';
}

/** The states in which a container with a claim label holds its cards. `exited` and `dead` hold nothing. */
export function holds(state: ContainerState): boolean {
  return state !== 'exited' && state !== 'dead';
}
