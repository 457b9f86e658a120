import type { Clock } from '../model/ports/outside.js';
import type { ContainersSeen, Probed } from '../model/snapshot.js';

/** The ids of the containers in this list that have been in `removing` for too long. */
export type StuckRemovals = (docker: Probed<ContainersSeen>) => readonly string[];

/** A removal takes seconds; after this time the engine has failed or forgotten it. */
const TOO_LONG_MS = 60 * 60 * 1000;

/**
 * Measures how long each container is seen in `removing`. The engine does not report it, so it counts on the monotonic clock
 * from the first list that showed it; after a restart of the gate it starts again. A failed list changes nothing.
 */
export function watchRemovals(clock: Pick<Clock, 'monotonic'>): StuckRemovals {
  let since = new Map<string, number>();
  return (docker) => {
    const now = clock.monotonic();
    if (docker.kind === 'seen') {
      const removing = docker.value.containers.filter(({ state }) => state === 'removing');
      since = new Map(removing.map(({ id }) => [id, since.get(id) ?? now]));
    }
    return [...since].filter(([, first]) => now - first > TOO_LONG_MS).map(([id]) => id);
  };
}
