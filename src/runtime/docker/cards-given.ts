import type Docker from 'dockerode';
import { askDocker } from '../../docker/ask-docker.js';
import { inWords } from '../../docker/errors.js';
import type { Clock } from '../../model/ports/outside.js';
import type { Pinned } from '../../model/snapshot.js';
import { inTime } from '../../time/in-time.js';
import { resolveDeviceFiles } from './device-minors.js';
import { parsePinned } from './parse-pinned.js';

/** Which cards containers were given, by their inspects: one inspect per container, since the answer never changes. */
export interface CardsGiven {
  /**
   * An answer for each id within the time limit; `not_told` where Docker did not answer, and then the next call asks again.
   */
  ask(ids: readonly string[]): Promise<ReadonlyMap<string, Pinned>>;
  /** Forgets the containers that are gone. */
  keepOnly(ids: readonly string[]): void;
}

/** The maximum number of new inspects in parallel. */
const AT_A_TIME = 8;
/** How long to wait on a hanging inspect before sending another: Docker would keep the old one waiting in any case. */
const GIVE_UP_MS = 60_000;

/**
 * Docker blocks an inspect while that container is starting, which can take long. So a snapshot waits `inspectTimeoutMs` for
 * all of its inspects together; one that hangs stays open, is not sent again, and later snapshots do not wait for it.
 */
export function createCardsGiven(options: {
  readonly docker: Docker;
  readonly clock: Clock;
  readonly inspectTimeoutMs: number;
  /** Where the driver lists its cards; tests have their own. */
  readonly driverFolder?: string;
}): CardsGiven {
  const { docker, clock, inspectTimeoutMs, driverFolder } = options;
  const known = new Map<string, Pinned>();
  const failed = new Map<string, string>();
  const underWay = new Map<string, Promise<void>>();
  /** Open inspects for which a snapshot has already waited in vain. */
  const overdue = new Set<string>();

  const inspect = async (id: string): Promise<void> => {
    failed.delete(id);
    const asked = await askDocker(GIVE_UP_MS, (abortSignal) => docker.getContainer(id).inspect({ abortSignal }), clock);
    if (asked.kind === 'answer') known.set(id, await toCards(parsePinned(asked.value)));
    else if (asked.kind === 'answered' && asked.status === 404) known.set(id, { kind: 'none' });
    else failed.set(id, inWords(asked));
    underWay.delete(id);
    overdue.delete(id);
  };

  const toCards = async (pinned: Pinned): Promise<Pinned> =>
    pinned.kind === 'some' ? { ...pinned, ids: await resolveDeviceFiles(pinned.ids, driverFolder) } : pinned;

  /** Two snapshots that need the same answer share one inspect. */
  const askOnce = (id: string): Promise<void> => {
    const asking = underWay.get(id) ?? inspect(id);
    underWay.set(id, asking);
    return asking;
  };

  const givenTo = (id: string): Pinned =>
    known.get(id) ?? {
      kind: 'not_told',
      detail: failed.get(id) ?? `Docker did not answer its inspect within ${inspectTimeoutMs} ms`,
    };

  return {
    async ask(ids) {
      const queue = ids.filter((id) => !known.has(id) && !overdue.has(id));
      const worker = async () => {
        for (let id = queue.shift(); id !== undefined; id = queue.shift()) await askOnce(id);
      };
      if (queue.length > 0) {
        const workers = Array.from({ length: Math.min(AT_A_TIME, queue.length) }, worker);
        await inTime(Promise.all(workers), inspectTimeoutMs, clock);
        // What no worker got to is asked for the next snapshot.
        queue.length = 0;
        for (const id of ids) if (underWay.has(id)) overdue.add(id);
      }
      return new Map(ids.map((id) => [id, givenTo(id)]));
    },

    keepOnly(ids) {
      const there = new Set(ids);
      for (const store of [known, failed]) {
        for (const id of store.keys()) if (!there.has(id)) store.delete(id);
      }
    },
  };
}
