/**
 * Whether a created container's creator will ever start it: the last rows of src/README.md#what-a-container-of-this-run-means.
 * Pure.
 */

import { LABEL } from '../model/labels.js';
import type { SeenContainer } from '../model/snapshot.js';

/** From where one life of a gate looks at created containers. */
export interface Standpoint {
  readonly instanceId: string;
  /** Without Redis no other gate is at work here. */
  readonly alone: boolean;
  /** Whether this process creates, checks or starts that container now. */
  isUnderWay(container: SeenContainer): boolean;
  /** Whether this process has seen it created for longer than the grace, on its monotonic clock. */
  isPastGrace(containerId: string): boolean;
}

/**
 * Only the creator starts a container, once. So a created one is `under_way` here, or `left_behind` by a life that is over, or
 * waits for another gate that may live. Two gates never share a state folder and its id: what carries ours and is not under way
 * is left behind, be it of this life, of an earlier one or of a version that wrote no life yet.
 */
export function standingOf(created: SeenContainer, from: Standpoint): 'under_way' | 'left_behind' | 'of_another_gate' {
  if (from.isUnderWay(created)) return 'under_way';
  const ours = created.labels[LABEL.admittedBy] === from.instanceId;
  return ours || from.alone || from.isPastGrace(created.id) ? 'left_behind' : 'of_another_gate';
}
