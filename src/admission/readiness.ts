/** Whether an admission could be decided now, part by part. */

import type { Readiness, ReadinessPart } from '../http/health-routes.js';
import type { Admissions, Lock, Watch } from '../model/ports.js';

/** `draining.ok` is true while the gate takes admissions. A blind probe is not ready, unless the operator said to admit when blind. */
export async function readiness(
  {
    watch,
    lock,
    admissions,
    admitWhenBlind,
  }: {
    readonly watch: Watch;
    readonly lock: Lock;
    readonly admissions: Pick<Admissions, 'status'>;
    readonly admitWhenBlind: boolean;
  },
  withinMs: number,
): Promise<Readiness> {
  const { docker, gpus } = (await watch.recent(withinMs)).snapshot;
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
