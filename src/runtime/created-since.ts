import type { CreatedSince } from '../model/ports/created-since.js';
import type { Clock } from '../model/ports/outside.js';

/** In memory only: after a restart the grace period begins again. */
export function createCreatedSince(clock: Pick<Clock, 'monotonic'>): CreatedSince {
  let since = new Map<string, number>();
  return {
    see(containers, whole) {
      const now = clock.monotonic();
      const next = whole ? new Map<string, number>() : since;
      for (const { id, state } of containers) {
        if (state === 'created') next.set(id, since.get(id) ?? now);
        else next.delete(id);
      }
      since = next;
    },
    ms(id) {
      const first = since.get(id);
      return first === undefined ? 0 : clock.monotonic() - first;
    },
  };
}
