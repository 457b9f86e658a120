/**
 * Whether a created container's creator will ever start it: the last rows of
 * src/README.md#what-a-container-of-this-run-means. Pure.
 */

import { LABEL } from '../model/labels.js';
import type { SeenContainer } from '../model/snapshot.js';

/** What one life of a gate knows when it judges created containers. */
export interface Standpoint {
  readonly instanceId: string;
  /** Without Redis, no other gate uses this machine. */
  readonly alone: boolean;
  /** Whether this process is creating, checking or starting that container now. */
  isUnderWay(container: SeenContainer): boolean;
  /** Whether this process has seen it `created` for longer than the grace period, on its monotonic clock. */
  isPastGrace(containerId: string): boolean;
}

/**
 * Only the creator starts a container, once. So a created one is `under_way` here, or `left_behind` by a life that is over,
 * or belongs to another gate that may be alive. Two gates never share a state folder and its id: a container with our id
 * that is not under way is left behind, whether by this life, by an earlier one or by a version that did not write the life
 * yet.
 */
export function standingOf(created: SeenContainer, from: Standpoint): 'under_way' | 'left_behind' | 'of_another_gate' {
  if (from.isUnderWay(created)) return 'under_way';
  const ours = created.labels[LABEL.admittedBy] === from.instanceId;
  return ours || from.alone || from.isPastGrace(created.id) ? 'left_behind' : 'of_another_gate';
}
