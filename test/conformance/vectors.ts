/**
 * The conformance vectors: machines, and what every implementation of the gate must answer for them. Reads, does not judge.
 */

import { existsSync, readFileSync } from 'node:fs';
import { LABEL } from '../../src/model/labels.js';
import type { JudgeRules } from '../../src/model/occupancy.js';
import type { ContainerState, Probed, SeenContainer, Snapshot } from '../../src/model/snapshot.js';
import { parseGpuRows } from '../../src/probe/nvidia-smi/parse-gpu-rows.js';
import { parseProcesses } from '../../src/probe/nvidia-smi/parse-processes.js';
import { isHealthField } from '../../src/probe/nvidia-smi/query-fields.js';
import { parseClaim } from '../../src/runtime/parse-claim.js';

/** A set of free cards and the cards that another implementation picked; null where there are too few. */
export interface PickVector {
  readonly free: readonly number[];
  readonly count: number;
  readonly picked: readonly number[] | null;
}

/** A machine in the words of its driver and of Docker. `broken` names the failed probes: `all` is nvidia-smi as a whole. */
export interface OccupancyVector {
  /** Only in our own vectors: the rule that this one tests. */
  readonly says?: string;
  readonly machine: {
    readonly cards: readonly ({ readonly index: number; readonly uuid: string } & Readonly<
      Record<string, string | number>
    >)[];
    readonly processes: readonly string[];
    readonly containers: readonly {
      readonly name: string;
      readonly run_id: string;
      readonly status: ContainerState;
      readonly gpus: readonly (number | string)[];
    }[];
    readonly broken: readonly ('all' | 'compute-apps' | 'health')[];
    readonly settings: {
      readonly gpu_count: number;
      readonly admit_when_blind: boolean;
      readonly check_external: boolean;
      readonly check_health: boolean;
    };
  };
  readonly expected: {
    readonly total: number;
    readonly by_job: Readonly<Record<string, string>>;
    readonly external: readonly number[];
    readonly unhealthy: readonly number[];
    readonly free: readonly number[];
    readonly external_probe_ok: boolean;
    /** `<run>:<count>`; only those of `new-run`, which no container carries, can be answered without a claim protocol. */
    readonly picks: Readonly<Record<string, readonly number[] | 'not-now' | 'never'>>;
  };
}

/** Our own vectors of this kind, then those beside the project where both are checked out together. */
export function vectorFiles(kind: 'occupancy' | 'pick'): readonly { readonly name: string; readonly url: URL }[] {
  return [
    { name: 'our own', url: new URL(`fixtures/${kind}.jsonl`, import.meta.url) },
    { name: 'shared', url: new URL(`../../../shared/conformance/${kind}.jsonl`, import.meta.url) },
  ].filter(({ url }) => existsSync(url));
}

/** One vector per line; the caller names the kind. */
export function readVectors(url: URL): readonly unknown[] {
  const lines = readFileSync(url, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as unknown);
}

/** What the machine's programs would print, parsed as the probe does it. */
export function snapshotOf({ cards, processes, containers, broken, settings }: OccupancyVector['machine']): Snapshot {
  const dark = broken.includes('all');
  const healthSeen = settings.check_health && !broken.includes('health');
  const fields = fieldsOf(cards).filter((field) => healthSeen || !isHealthField(field));
  const text = cards.map((card) => fields.map((field) => card[field]).join(', ')).join('\n');
  const list = processes.map((uuid, at) => `${uuid}, ${4000 + at}, python, 400`).join('\n');
  return {
    startedAtMs: 0,
    endedAtMs: 100,
    gpus: dark ? blind : seen({ ...parseGpuRows(text, fields), driverCount: cards.length, broken: [] }),
    processes: settings.check_external
      ? dark || broken.includes('compute-apps')
        ? blind
        : seen(parseProcesses(list).processes)
      : { kind: 'off' },
    health: settings.check_health ? (healthSeen && !dark ? seen(null) : blind) : { kind: 'off' },
    docker: seen({ containers: containers.map(containerOf) }),
    links: null,
    remembered: [],
    kernel: { kind: 'off' },
    exclusions: [],
  };
}

/** The rules for the vector's settings; the limit is the default of 512 MiB. */
export function rulesOf({ settings }: OccupancyVector['machine']): JudgeRules {
  return {
    memoryBusyMib: 512,
    configuredCount: settings.gpu_count,
    checkExternal: settings.check_external,
    checkHealth: settings.check_health,
    clusterProfile: null,
    excludeCards: [],
  };
}

/** Index and uuid first, as the probe queries them; the rest in the order of the vector. */
function fieldsOf(cards: OccupancyVector['machine']['cards']): readonly string[] {
  return [...new Set(['index', 'uuid', ...cards.flatMap((card) => Object.keys(card))])];
}

function containerOf(seenAs: OccupancyVector['machine']['containers'][number], at: number): SeenContainer {
  const labels = { [LABEL.runId]: seenAs.run_id, [LABEL.gpus]: seenAs.gpus.join(',') };
  return {
    id: `${seenAs.name}-id`,
    name: seenAs.name,
    state: seenAs.status,
    outOfReach: false,
    createdAtMs: at,
    labels,
    claim: parseClaim(labels)?.cards ?? null,
    pinned: { kind: 'none' },
  };
}

const seen = <T>(value: T): Probed<T> => ({ kind: 'seen', value, tookMs: 50 });
const blind: Probed<never> = { kind: 'blind', why: 'exit', detail: 'nvidia-smi exited 255', tookMs: 50 };
