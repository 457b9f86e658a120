/** Which of the containers that a list shows is this run, and whose it is. */

import { containerName, LABEL } from '../model/labels.js';
import { type SeenContainer, holds } from '../model/snapshot.js';

export type KnownRun =
  | { readonly kind: 'none' }
  /** Made by a gate: our hash, and the name that belongs to the run. */
  | { readonly kind: 'ours'; readonly container: SeenContainer; readonly specSha256: string }
  /** An older agent's: it carries the run, and no hash of its request. */
  | { readonly kind: 'older'; readonly container: SeenContainer }
  /** Something else has the name that this run would need. */
  | { readonly kind: 'stranger'; readonly container: SeenContainer };

/**
 * Looks for a run among containers. A container with our hash under another name is a copy (an image made from a job by
 * `docker commit` carries its labels) and never stands for the run.
 */
export function knownRun(containers: readonly SeenContainer[], runId: string): KnownRun {
  const ours = containers.find((container) => isOurs(container) && container.name === containerName(runId));
  if (ours) return { kind: 'ours', container: ours, specSha256: ours.labels[LABEL.specSha256] ?? '' };
  const older = containers.filter((container) => isOlderAgents(container, runId));
  const one = older.find((container) => holds(container.state)) ?? older[0];
  if (one) return { kind: 'older', container: one };
  const stranger = containers.find((container) => container.name === containerName(runId));
  return stranger ? { kind: 'stranger', container: stranger } : { kind: 'none' };
}

/** Whether a gate made this container: it carries our hash, and its name fits the run id that it carries. */
export function isOurs(container: SeenContainer): boolean {
  const runId = container.labels[LABEL.runId];
  return Boolean(container.labels[LABEL.specSha256]) && runId !== undefined && container.name === containerName(runId);
}

function isOlderAgents(container: SeenContainer, runId: string): boolean {
  if (container.labels[LABEL.specSha256]) return false;
  const labelled = container.labels[LABEL.runId];
  if (labelled) return labelled === runId;
  return container.claim !== null && container.name === containerName(runId);
}
