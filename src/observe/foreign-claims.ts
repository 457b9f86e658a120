/** Detects allocators with which this gate shares no lock. */

import { LABEL } from '../model/labels.js';
import type { Log } from '../model/ports/outside.js';
import { type Snapshot, holds } from '../model/snapshot.js';

/**
 * Without Redis this gate assumes to be alone. A live claim that no gate wrote disproves it: logged once for each container.
 */
export function warnOfForeignClaims(log: Log): (snapshot: Snapshot) => void {
  let reported = new Set<string>();
  return ({ docker }) => {
    if (docker.kind === 'blind') return;
    const older = docker.value.containers.filter(
      ({ state, claim, labels }) => claim !== null && holds(state) && !labels[LABEL.specSha256],
    );
    for (const { id, name } of older) {
      if (reported.has(id)) continue;
      log.warn(
        { container: name, container_id: id },
        'a live claim on this machine was not written by a gate: something else allocates cards here; set TUNEPLANE_REDIS_URL to the Redis that it locks with',
      );
    }
    reported = new Set(older.map(({ id }) => id));
  };
}
