/** Whether an admission could be decided now, part by part. */

import type { Admissions } from '../model/ports/admissions.js';
import type { Observer, Observation } from '../model/ports/eyes.js';
import type { Lock } from '../model/ports/lock.js';
import type { InForce, RuleFileStatus } from '../model/ports/rule-files.js';
import type { Readiness, ReadinessPart } from './health-routes.js';

export interface ReadinessParts {
  readonly lock: Lock;
  readonly admissions: Pick<Admissions, 'status'>;
  readonly admitWhenBlind: boolean;
  /** Known problems of the runtime that its lists do not show. */
  readonly runtimeTrouble: () => string | null;
  /** The state of the access files (tokens, policy) at their last check. */
  readonly ruleFiles: () => readonly RuleFileStatus[];
}

/** Judged from a recent snapshot, whose probes may take `withinMs`. */
export async function readiness(
  { observer, ...parts }: ReadinessParts & { readonly observer: Observer },
  withinMs: number,
): Promise<Readiness> {
  return readinessBy(await observer.recent(withinMs), parts);
}

/**
 * Judged from this snapshot. `draining.ok` is true while the gate accepts admissions. A blind probe is not ready, unless the
 * operator allows admission when blind.
 */
export function readinessBy(
  { snapshot: { docker, gpus } }: Observation,
  { lock, admissions, admitWhenBlind, ruleFiles, runtimeTrouble }: ReadinessParts,
): Readiness {
  const parts = {
    runtime: part(docker.kind === 'seen' ? runtimeTrouble() : docker.detail),
    lock: part(lock.up === false ? (lock.problem() ?? 'Redis does not answer') : null),
    probe: part(gpus.kind === 'seen' || admitWhenBlind ? null : gpus.detail),
    draining: part(admissions.status().draining ? 'shutting down' : null),
    files: filesPart(ruleFiles()),
  };
  return { ready: Object.values(parts).every(({ ok }) => ok), parts };
}

/** Not ready where a file permits nobody anything; where the version in force differs from the file, the detail says so. */
function filesPart(files: readonly RuleFileStatus[]): ReadinessPart {
  const told = files.flatMap(({ file, inForce }) => fileWords(file, inForce) ?? []);
  return {
    ok: files.every(({ inForce }) => inForce !== 'nothing'),
    detail: told.length === 0 ? null : told.join('; '),
  };
}

function fileWords(file: string, inForce: InForce): string | null {
  switch (inForce) {
    case 'as_written':
      return null;
    case 'in_part':
      return `some lines of the ${file} file are invalid and ignored (the log names them)`;
    case 'as_before':
      return `the ${file} file cannot be used; its last good content stays in force (the log says why)`;
    case 'nothing':
      return `the ${file} file permits nobody anything (the log says why)`;
    default:
      return inForce satisfies never;
  }
}

function part(detail: string | null): ReadinessPart {
  return { ok: detail === null, detail };
}
