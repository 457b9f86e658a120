/** The labels and the name that identify a container as a run, and as ours. */

import type { Grant } from './admission.js';

/** The labels that record a claim. The older agent writes only `tuneplane.gpus`. */
export const LABEL = {
  runId: 'tuneplane.run_id',
  gpus: 'tuneplane.gpus',
  gpuUuids: 'tuneplane.gpu-uuids',
  specSha256: 'tuneplane.spec-sha256',
  admittedBy: 'tuneplane.admitted-by',
  admittedAt: 'tuneplane.admitted-at',
  principal: 'tuneplane.principal',
  /** Who called on the principal's behalf; empty where it called itself. */
  delegate: 'tuneplane.delegate',
  /**
   * A random value per life of the process that created the container, so that no clock decides whether its creator is dead.
   */
  life: 'tuneplane.life',
} as const;

/** The container name for a run. */
export function containerName(runId: string): string {
  return `tuneplane-${runId}`;
}

/** Whether labels were written for exactly this grant: no two grants of one life share a time stamp. */
export function isOf(grant: Grant, labels: Readonly<Record<string, string>>): boolean {
  return labels[LABEL.life] === grant.life && labels[LABEL.admittedAt] === grant.admittedAt;
}

/** The labels that the caller gave, without those of the platform. */
export function ownLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !key.startsWith('tuneplane.')));
}
