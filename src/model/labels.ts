/** The labels and the name by which a container is known as a run, and as ours. */

import type { Grant } from './admission.js';

/** The labels that are the books. The older agent writes `tuneplane.gpus` alone. */
export const LABEL = {
  runId: 'tuneplane.run_id',
  gpus: 'tuneplane.gpus',
  gpuUuids: 'tuneplane.gpu-uuids',
  specSha256: 'tuneplane.spec-sha256',
  admittedBy: 'tuneplane.admitted-by',
  admittedAt: 'tuneplane.admitted-at',
  principal: 'tuneplane.principal',
  /** Who spoke for the principal; empty where it spoke for itself. */
  delegate: 'tuneplane.delegate',
  /** A random value of one life of the process that made the container, so that no clock decides who is dead. */
  life: 'tuneplane.life',
} as const;

/** The name that a run's container has, or would have. */
export function containerName(runId: string): string {
  return `tuneplane-${runId}`;
}

/** Whether labels were written for exactly this grant: no two grants of one life carry the same moment. */
export function isOf(grant: Grant, labels: Readonly<Record<string, string>>): boolean {
  return labels[LABEL.life] === grant.life && labels[LABEL.admittedAt] === grant.admittedAt;
}
