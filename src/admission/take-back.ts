/** Removes a container that this process created and will not start. */

import type { Hands } from '../model/ports/hands.js';
import { isAlive, type ContainerState } from '../model/snapshot.js';

export type TakenBack =
  /** Nothing of it is left. */
  | { readonly kind: 'taken_back' }
  /** It runs, whoever started it. */
  | { readonly kind: 'runs'; readonly state: ContainerState }
  /** It has run, or is being removed: the list or the record of removed runs tells which. */
  | { readonly kind: 'look_again' }
  | { readonly kind: 'in_doubt'; readonly detail: string };

/** By id and without force, after checking its state once more; see `Hands.remove`. */
export async function takeBack(containerId: string, hands: Pick<Hands, 'remove'>): Promise<TakenBack> {
  const removed = await hands.remove(containerId, 'created');
  switch (removed.kind) {
    case 'removed':
    case 'gone':
      return { kind: 'taken_back' };
    case 'left':
      return isAlive(removed.state) ? { kind: 'runs', state: removed.state } : { kind: 'look_again' };
    case 'had_run':
      return { kind: 'look_again' };
    case 'in_doubt':
      return removed;
    default:
      return removed satisfies never;
  }
}
