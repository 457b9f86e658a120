/** Which of the listed containers belong to a run. */

import { containerName, LABEL } from '../../model/labels.js';
import type { Books } from '../../model/ports/books.js';
import { isAlive, type SeenContainer } from '../../model/snapshot.js';

export type ExistingRun =
  | { readonly kind: 'none' }
  /** Created by a gate: it carries the run id and the hash of the request, under whatever name it has now. */
  | { readonly kind: 'ours'; readonly container: SeenContainer; readonly specSha256: string }
  /** Created by an older agent: it carries the run id but no hash of the request. */
  | { readonly kind: 'older'; readonly container: SeenContainer }
  /** Something else has the name that this run needs. */
  | { readonly kind: 'stranger'; readonly container: SeenContainer };

/**
 * Finds a run among containers without copies. If a run has several containers (a rename frees the name for a second), the
 * live one that has progressed furthest counts: a running job must not be started a second time.
 */
export function existingRun(containers: readonly SeenContainer[], runId: string): ExistingRun {
  const ours = furthest(containers.filter((container) => isOurs(container, runId)));
  if (ours !== null) return { kind: 'ours', container: ours, specSha256: ours.labels[LABEL.specSha256] ?? '' };
  const older = furthest(containers.filter((container) => isOlderAgents(container, runId)));
  if (older !== null) return { kind: 'older', container: older };
  const stranger = containers.find((container) => container.name === containerName(runId));
  return stranger ? { kind: 'stranger', container: stranger } : { kind: 'none' };
}

/** Drops containers whose job labels come from an image that was committed from a job. In doubt, a container counts. */
export async function withoutCopies(
  containers: readonly SeenContainer[],
  books: Pick<Books, 'isCopy'>,
): Promise<readonly SeenContainer[]> {
  const copies = await Promise.all(containers.map(async (one) => mayBeCopy(one) && (await books.isCopy(one)) === true));
  return containers.filter((_, at) => copies[at] !== true);
}

/** Gates never use a run's name twice, so whatever has the name needs no further check. */
function mayBeCopy({ name, labels }: SeenContainer): boolean {
  return Boolean(labels[LABEL.specSha256]) && name !== containerName(labels[LABEL.runId] ?? '');
}

function isOurs({ labels }: SeenContainer, runId: string): boolean {
  return Boolean(labels[LABEL.specSha256]) && labels[LABEL.runId] === runId;
}

function isOlderAgents({ labels, claim, name }: SeenContainer, runId: string): boolean {
  if (labels[LABEL.specSha256]) return false;
  if (labels[LABEL.runId]) return labels[LABEL.runId] === runId;
  return claim !== null && name === containerName(runId);
}

function furthest(containers: readonly SeenContainer[]): SeenContainer | null {
  return containers.toSorted((one, other) => rank(one) - rank(other))[0] ?? null;
}

function rank({ state }: SeenContainer): number {
  if (isAlive(state)) return 0;
  return state === 'created' ? 2 : 1;
}
