/** One round of probes and its results. Nothing here is judged yet; this file imports nouns only. */

import type { CardIndex, CardUuid } from './card.js';
import type { XidFinding } from './xid.js';

/** Why a probe could not see; also the `reason` label of `tuneplane_gpu_probe_failures_total`. */
export const BLIND_REASONS = ['spawn', 'exit', 'timeout', 'parse', 'overlap', 'unavailable'] as const;
export type BlindReason = (typeof BLIND_REASONS)[number];

/** The probes of one look; also the `probe` label of the probe metrics. */
export const PROBES = ['gpus', 'processes', 'health', 'docker', 'kernel'] as const;
export type ProbeName = (typeof PROBES)[number];

/** The result of one probe. Being blind is an answer, never an exception. `detail` is written for the operator. */
export type Probed<T> =
  | { readonly kind: 'seen'; readonly value: T; readonly tookMs: number }
  | { readonly kind: 'blind'; readonly why: BlindReason; readonly detail: string; readonly tookMs: number };

/** A probe that the operator switched off, or that cannot run here, which proves nothing either way. `detail`: why. */
export type Off = { readonly kind: 'off'; readonly detail?: string };

/**
 * The content of one column in one row.
 * `absent`: the driver does not know the column (or it was not queried). `cannot_say`: `[N/A]`, `N/A`, `[Not Supported]`.
 * `denied`: a permission error. `error`: any other words in brackets, or `ERR!`. `unreadable`: not a valid value of its
 * column.
 */
export type Reading<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'absent' }
  | { readonly kind: 'cannot_say'; readonly words: string }
  | { readonly kind: 'denied'; readonly words: string }
  | { readonly kind: 'error'; readonly words: string }
  | { readonly kind: 'unreadable'; readonly words: string };

/** The health columns, in the words of the driver; `model/columns` says what they mean. */
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

/**
 * The content of each column of a row. Every reading has one column in `model/columns`, and every column there feeds one of
 * these.
 */
export interface Readings extends HealthReadings {
  readonly index: Reading<number>;
  readonly uuid: Reading<string>;
  readonly name: Reading<string>;
  /** As the driver prints it: `00000000:4E:00.0`. */
  readonly pciBusId: Reading<string>;
  readonly driverVersion: Reading<string>;
  /** How many cards the driver counts; every row contains it. */
  readonly count: Reading<number>;
  readonly memoryUsedMib: Reading<number>;
  readonly memoryTotalMib: Reading<number>;
  readonly persistenceMode: Reading<string>;
  readonly migMode: Reading<string>;
  readonly utilizationPercent: Reading<number>;
  readonly temperatureCelsius: Reading<number>;
  readonly powerWatts: Reading<number>;
  readonly computeMode: Reading<string>;
}

/**
 * One row of `--query-gpu` from a run that exited 0: its card, and the content of its columns. A row with an error word in
 * place of the uuid has `uuid` null, and `index` null if that is unreadable too; such a row gets the index that the other
 * rows leave open, if only one is open.
 */
export interface GpuRow {
  readonly index: CardIndex | null;
  readonly uuid: CardUuid | null;
  readonly name: string | null;
  readonly pciBusId: string | null;
  readonly driverVersion: string | null;
  readonly readings: Readings;
  /**
   * True when the row had fewer columns than queried, or they are in the wrong places: the card exists, and nothing more is
   * known.
   */
  readonly short: boolean;
}

/** A card for which the driver printed an error instead of a row; its message is the reason. */
export interface BrokenCard {
  /** Its position in `-L`, where known. */
  readonly index: CardIndex | null;
  readonly pciBusId: string | null;
  /** The driver's words after the colon: `GPU is lost.  Reboot the system to recover this GPU`. */
  readonly words: string;
  /** True for a permission error: the card may be fine, and could not be seen. */
  readonly denied: boolean;
}

export interface GpusSeen {
  readonly rows: readonly GpuRow[];
  readonly broken: readonly BrokenCard[];
  /** How many cards the driver itself counts, where it said so. */
  readonly driverCount: number | null;
  readonly driverVersion: string | null;
  /**
   * What the program printed besides rows (a warning about an infoROM), and oddities of the rows; for people. Left out:
   * nothing.
   */
  readonly remarks?: readonly string[];
}

/** One row of the process list with a numeric pid; a row without one is no process. */
export interface ComputeProcess {
  readonly uuid: CardUuid;
  readonly pid: number;
  readonly name: string;
  /** Null where the driver could not say. */
  readonly memoryMib: number | null;
}

/** The link between two cards, fastest first, in the words of `nvidia-smi topo -m`. */
export const LINK_KINDS = ['NV', 'PIX', 'PXB', 'PHB', 'NODE', 'SYS'] as const;
export type LinkKind = (typeof LINK_KINDS)[number];

/** The link between two cards by uuid; both directions are present. Null where `topo -m` could not be read. */
export type Links = ReadonlyMap<CardUuid, ReadonlyMap<CardUuid, LinkKind>>;

/** A card that was seen once, so that it keeps its name and uuid when it is missing later. Kept in the state folder. */
export interface RememberedCard {
  readonly uuid: CardUuid;
  readonly index: CardIndex;
  /** Null where it could never be read. */
  readonly name: string | null;
  readonly pciBusId: string;
}

/** A card excluded on purpose, by an operator's call or by the settings. */
export interface Exclusion {
  readonly uuid: CardUuid;
  readonly reason: string;
  /** ISO 8601, UTC. */
  readonly since: string;
  readonly principal: string;
  /** When it ends by itself, ISO 8601, UTC; null: only when somebody includes the card. */
  readonly until: string | null;
}

/** Docker's own words for a container's state. */
export const CONTAINER_STATES = ['created', 'running', 'paused', 'restarting', 'removing', 'exited', 'dead'] as const;
export type ContainerState = (typeof CONTAINER_STATES)[number];

/**
 * The cards that a claim names. `uuids` from `tuneplane.gpu-uuids`, or for a claim by indices only from its device request;
 * `indices` from `tuneplane.gpus`, empty where `tuneplane.gpu-uuids` decides; `unread` is what could not be parsed as
 * either. `indicesBeside` is the index at the position of each of `uuids`, for people and for a driver that shows no uuids;
 * null where that was no number, left out where the two lists differ in length.
 */
export interface ClaimedCards {
  readonly uuids: readonly CardUuid[];
  readonly indices: readonly CardIndex[];
  readonly indicesBeside?: readonly (CardIndex | null)[];
  readonly unread: readonly string[];
}

/** Which cards a foreign container was given. `some` contains ids as written: a uuid, an index or a MIG id. */
export type Pinned =
  | { readonly kind: 'none' }
  | { readonly kind: 'all' }
  | { readonly kind: 'some'; readonly ids: readonly string[] }
  /** The inspect timed out or was invalid: a warning, not a failed probe. */
  | { readonly kind: 'not_told'; readonly detail: string };

/** One container, or one process of the process runtime, as listed. */
export interface SeenContainer {
  readonly id: string;
  /** Without the leading slash. */
  readonly name: string;
  readonly state: ContainerState;
  /**
   * True where nobody can determine from here whether it still lives: a process in a pid namespace that is not visible here.
   * It counts as running and holds its cards, until an operator removes it.
   */
  readonly outOfReach: boolean;
  /** Epoch milliseconds of its creation. */
  readonly createdAtMs: number;
  readonly labels: Readonly<Record<string, string>>;
  /** As the list names it; null or left out where it does not. */
  readonly image?: string | null;
  /** As one text. */
  readonly command?: string | null;
  /** Null where it carries neither claim label. Present in any state: `holds(state)` tells whether the claim counts. */
  readonly claim: ClaimedCards | null;
  /** Only meaningful for a container without a claim that is running, paused or restarting. */
  readonly pinned: Pinned;
}

export interface ContainersSeen {
  readonly containers: readonly SeenContainer[];
}

/**
 * One look: everything the gate knows at one moment, immutable. A page, an answer or a log line is always built from a
 * single one.
 */
export interface Snapshot {
  /** Epoch milliseconds. */
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly gpus: Probed<GpusSeen>;
  readonly processes: Probed<readonly ComputeProcess[]> | Off;
  /** The cards whose process list the driver could not read, while the others' are available. Left out: none. */
  readonly unlisted?: readonly CardUuid[];
  /** Remarks on the process list besides its rows; for people. Left out: nothing. */
  readonly processRemarks?: readonly string[];
  /** Whether the health columns could be queried at all; the readings themselves are in the rows. */
  readonly health: Probed<null> | Off;
  readonly docker: Probed<ContainersSeen>;
  /** Whether the kernel's log can be read. */
  readonly kernel: Probed<null> | Off;
  /** Xids that exclude a card. Left out: none. */
  readonly xids?: readonly XidFinding[];
  /** Ids of containers that have been in `removing` for over an hour while this process observed them. Left out: none. */
  readonly stuckRemovals?: readonly string[];
  readonly links: Links | null;
  /** The cards seen before and not forgotten, this look's own included. */
  readonly remembered: readonly RememberedCard[];
  readonly exclusions: readonly Exclusion[];
  /**
   * Per card, the starts that failed within the last hour without a later success. A card that is not in it, or no map:
   * none.
   */
  readonly failedStarts?: ReadonlyMap<CardUuid, number>;
}

/** The states in which the container's process exists. */
export function isAlive(state: ContainerState): boolean {
  return state === 'running' || state === 'paused' || state === 'restarting';
}

/** The states in which a container with a claim label holds its cards. `exited` and `dead` hold nothing. */
export function holds(state: ContainerState): boolean {
  return state !== 'exited' && state !== 'dead';
}
