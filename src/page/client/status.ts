/** The part of `GET /status.json` that the page reads: types only. The compiler checks the server's answer against them. */

export type CardState = 'job_held' | 'excluded' | 'unhealthy' | 'external' | 'unknown' | 'free';
export type ProbeName = 'gpus' | 'processes' | 'health' | 'docker' | 'kernel';
export type PartName = 'runtime' | 'lock' | 'probe' | 'draining' | 'files';

export interface Status {
  /** The gate's clock when it answered, ISO 8601. Ages are counted from it: the browser's clock may be wrong. */
  readonly now: string;
  /** Host name of the machine. */
  readonly machine: string;
  readonly version: string;
  readonly started_at: string;
  readonly ready: boolean;
  readonly parts: Readonly<Record<PartName, { readonly ok: boolean; readonly detail: string | null }>>;
  readonly lock: Lock;
  readonly admissions_in_flight: number;
  /** When each probe could last see; null: not since the gate started. */
  readonly last_seen: Readonly<Record<ProbeName, string | null>>;
  /** Longest wait first. */
  readonly line: readonly Place[];
  readonly cards: Cards;
  /** Newest first. */
  readonly decisions: readonly Decision[];
}

/** A run that waits for cards. */
export interface Place {
  readonly run_id: string;
  readonly position: number;
  readonly count: number;
  readonly principal: string;
  readonly image: string;
  readonly since: string;
}

export interface Lock {
  readonly held: boolean;
  readonly waiting: number;
  /** Null without Redis. */
  readonly redis_up: boolean | null;
  /** Why the lock is unavailable now. */
  readonly problem: string | null;
}

export interface Cards {
  readonly observed_at: string;
  readonly explain: string;
  readonly counts: Readonly<Record<CardState, number>>;
  readonly probes: Readonly<Record<ProbeName, Probe>>;
  readonly cards: readonly Card[];
}

export interface Probe {
  /** Null: switched off by a setting. */
  readonly ok: boolean | null;
  readonly took_ms?: number | null | undefined;
  readonly why?: string | null | undefined;
  readonly detail?: string | null | undefined;
}

export interface Excluded {
  readonly by: string;
  readonly reason: string;
  readonly since: string | null;
  readonly principal: string | null;
  readonly until: string | null;
}

export interface Card {
  readonly index: number | null;
  readonly uuid: string | null;
  readonly name: string | null;
  readonly state: CardState;
  readonly claims: number;
  readonly held_by: Holder | null;
  readonly excluded: Excluded | null;
  readonly external: ExternalUse | null;
  readonly unhealthy: readonly Finding[];
  readonly warnings: readonly Finding[];
  readonly failed_starts: number;
  readonly unknown_because: string | null;
  readonly reserved_for: string | null;
  readonly memory_used_bytes: number | null;
  readonly memory_size_bytes: number | null;
  readonly utilization_ratio: number | null;
  readonly temperature_celsius: number | null;
  readonly power_watts: number | null;
  readonly held_idle_seconds: number | null;
}

export interface Holder {
  readonly run_id: string;
  readonly state: string;
  readonly since: string;
  readonly principal: string | null;
}

export interface ExternalUse {
  readonly processes: readonly { readonly pid: number; readonly name: string; readonly memory_mib: number | null }[];
  readonly memory_mib: number | null;
  readonly containers: readonly string[];
}

export interface Finding {
  readonly reason: string;
  readonly detail: string;
}

export interface Decision {
  readonly at: string;
  readonly first_at: string;
  /** How often the same decision was made, from `first_at` to `at`. */
  readonly times: number;
  readonly action: string;
  readonly principal: string;
  readonly run_id: string | null;
  readonly outcome: string;
  readonly detail: string | null;
  readonly count: number | null;
  /** Uuids; an index as text where no uuid was known. */
  readonly cards: readonly string[];
  readonly took_ms: number;
}
