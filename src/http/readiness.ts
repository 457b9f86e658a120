/** Whether an admission could be decided now, part by part. */

import type { Admissions } from '../model/ports/admissions.js';
import type { Observer, Observation } from '../model/ports/eyes.js';
import type { Lock } from '../model/ports/lock.js';
import type { Readiness, ReadinessPart } from './health-routes.js';

export interface ReadinessParts {
  readonly lock: Lock;
  readonly admissions: Pick<Admissions, 'status'>;
  readonly admitWhenBlind: boolean;
}

/** Judged from a recent look, whose probes may take `withinMs`. */
export async function readiness(
  { observer, ...parts }: ReadinessParts & { readonly observer: Observer },
  withinMs: number,
): Promise<Readiness> {
  return readinessBy(await observer.recent(withinMs), parts);
}

/**
 * Judged from this look. `draining.ok` is true while the gate takes admissions. A blind probe is not ready, unless the operator
 * said to admit when blind.
 */
export function readinessBy(
  { snapshot: { docker, gpus } }: Observation,
  { lock, admissions, admitWhenBlind }: ReadinessParts,
): Readiness {
  const parts = {
    runtime: part(docker.kind === 'seen' ? null : docker.detail),
    lock: part(lock.up === false ? (lock.problem() ?? 'Redis does not answer') : null),
    probe: part(gpus.kind === 'seen' || admitWhenBlind ? null : gpus.detail),
    draining: part(admissions.status().draining ? 'shutting down' : null),
  };
  return { ready: Object.values(parts).every(({ ok }) => ok), parts };
}

function part(detail: string | null): ReadinessPart {
  return { ok: detail === null, detail };
}
