/** The judgement of a snapshot. Made by `occupancy/judge`, shown by the HTTP endpoints, used by the admission to pick. */

import type { CardIndex, CardState, CardUuid, Finding, HealthReason, WarningReason } from './card.js';
import type { BlindReason, ContainerState, Links, ProbeName } from './snapshot.js';

/** What the judge needs to know besides the snapshot. */
export interface JudgeRules {
  /** At or above this many MiB a card is in use, whoever uses it. */
  readonly memoryBusyMib: number;
  /** The configured number of cards; 0: as many as the driver shows. */
  readonly configuredCount: number;
  readonly checkExternal: boolean;
  readonly checkHealth: boolean;
  /** The hardware series by setting; null: the card's own name, lower-case. */
  readonly clusterProfile: string | null;
  /** `TUNEPLANE_EXCLUDE_CARDS`: uuids or indices, as written. */
  readonly excludeCards: readonly string[];
}

/** A live container's claim on a card. */
export interface Claim {
  /** The container's name where it carries no run id. */
  readonly runId: string;
  readonly container: string;
  readonly containerId: string;
  readonly state: ContainerState;
  readonly createdAtMs: number;
  readonly principal: string | null;
  /** The job's own labels, without those of the platform. */
  readonly labels: Readonly<Record<string, string>>;
  /** As the runtime's list names it; null where it does not. */
  readonly image: string | null;
  readonly command: string | null;
}

/** Who uses a card from outside, and how that was detected. */
export interface ExternalUse {
  readonly processes: readonly { readonly pid: number; readonly name: string; readonly memoryMib: number | null }[];
  /** The memory in use where it is at or above the limit; null where something else showed the use. */
  readonly memoryMib: number | null;
  /** Names of foreign containers that are pinned to the card. */
  readonly containers: readonly string[];
}

/** Why a card is excluded on purpose. */
export interface ExcludedBecause {
  readonly by: 'operator' | 'settings' | 'mig' | 'compute_mode' | 'count';
  readonly reason: string;
  /** ISO 8601, UTC; null where the time is unknown. */
  readonly since: string | null;
  /** Who said so; null where nobody did. */
  readonly principal: string | null;
  /** When it ends by itself, ISO 8601, UTC; null: not by itself. */
  readonly until: string | null;
}

/**
 * Why too little of a card is visible. `blind`: the gpus probe gave nothing. `docker`: the containers could not be listed.
 * `uuid`: its uuid has a form unlike any card's (Tegra), so the card cannot be identified.
 */
export const UNKNOWN_REASONS = ['blind', 'docker', 'memory', 'permission', 'short_row', 'uuid'] as const;
export type UnknownBecause = (typeof UNKNOWN_REASONS)[number];

/** One card with its state and all findings, whatever the state. */
export interface JudgedCard {
  /** Null for a missing card whose index another card has now. */
  readonly index: CardIndex | null;
  /** Null for a card known only from the configured count, or one that was never fully read. */
  readonly uuid: CardUuid | null;
  readonly name: string | null;
  readonly pciBusId: string | null;
  readonly driverVersion: string | null;
  readonly series: string | null;
  readonly state: CardState;
  /** Live claims, oldest first; more than one is a double booking that is shown and alerted on. */
  readonly claims: readonly Claim[];
  readonly excluded: ExcludedBecause | null;
  readonly external: ExternalUse | null;
  readonly unhealthy: readonly Finding<HealthReason>[];
  readonly warnings: readonly Finding<WarningReason>[];
  /** For each health reason whether it applies; unknown reasons are left out. */
  readonly health: Readonly<Partial<Record<HealthReason, boolean>>>;
  /** The same for the warnings. */
  readonly warned: Readonly<Partial<Record<WarningReason, boolean>>>;
  /** Set whenever too little of the card is visible, even where a state of higher precedence hides it. */
  readonly unknownBecause: UnknownBecause | null;
  /** Failed starts here within the last hour, without a later success; such a card is picked last. */
  readonly failedStarts: number;
  /** Compute processes on the card, a job's own included; null where the list is unavailable. */
  readonly processes: number | null;
  readonly memoryUsedBytes: number | null;
  readonly memorySizeBytes: number | null;
  readonly persistenceMode: boolean | null;
  /** The part of the last sample period in which a kernel ran, 0 to 1. */
  readonly utilization: number | null;
  readonly temperatureCelsius: number | null;
  readonly powerWatts: number | null;
  /** For how long a held card has had neither a process nor utilisation; null where it is not held or that is unknown. */
  readonly heldIdleSeconds: number | null;
}

/** The result of one probe, for display. */
export interface ProbeReport {
  readonly probe: ProbeName;
  /** `off`: switched off by a setting. */
  readonly state: 'ok' | 'failed' | 'off';
  readonly why: BlindReason | null;
  readonly detail: string | null;
  readonly tookMs: number | null;
}

export interface Occupancy {
  /** Epoch milliseconds of the look's start. */
  readonly observedAtMs: number;
  /** In order of index; cards without one last. */
  readonly cards: readonly JudgedCard[];
  /** All six states, always; they add up to `cards.length`. */
  readonly counts: Readonly<Record<CardState, number>>;
  /** The number of cards the machine should have: the configured count, else the known cards. Includes excluded cards. */
  readonly expected: number;
  /** For the memory reading, the only evidence that works across container boundaries; true with the check switched off. */
  readonly externalProbeOk: boolean;
  readonly series: string | null;
  readonly probes: Readonly<Record<ProbeName, ProbeReport>>;
  /** Claims on cards that are not here, invalid labels, containers that can reach every card: sentences. */
  readonly notes: readonly string[];
  /** One paragraph for a person: how many cards are free, and what the others are doing. */
  readonly explain: string;
  readonly links: Links | null;
}
