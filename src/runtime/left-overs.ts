/** Containers that a gate created and never started: their cards come back. */

import type { Books, Hands, Log, Meter } from '../model/ports.js';
import type { SeenContainer } from '../model/snapshot.js';
import { LABEL, containerName } from '../model/labels.js';

export interface SweepParts {
  readonly books: Pick<Books, 'list'>;
  readonly hands: Pick<Hands, 'remove'>;
  readonly meter: Pick<Meter, 'leftOverRemoved'>;
  readonly log: Log;
  readonly instanceId: string;
  /** Epoch milliseconds: what this instance admitted before it is of an earlier life. */
  readonly startedAtMs: number;
  readonly graceMs: number;
  /** Whether a container is being dealt with in this process. */
  readonly adopted: (id: string) => boolean;
}

/**
 * One sweep: removes, by id and without force, what is left over at `nowMs` (epoch milliseconds). A start that won the race after
 * all makes Docker refuse, and the container lives. Runs outside the lock. Returns the ids that were removed; a list that
 * fails removes nothing.
 */
export async function sweepLeftOvers(parts: SweepParts, nowMs: number): Promise<readonly string[]> {
  const listed = await parts.books.list();
  if (listed.kind === 'blind') return [];
  const gone: string[] = [];
  for (const container of listed.value.containers.filter((one) => isLeftOver(one, parts, nowMs))) {
    if (parts.adopted(container.id)) continue;
    const removed = await parts.hands.remove(container.id);
    if (removed.kind !== 'removed') continue;
    gone.push(container.id);
    parts.meter.leftOverRemoved();
    parts.log.warn(
      { run_id: container.labels[LABEL.runId], container_id: container.id },
      'removed a container that its gate created and never started; its cards are free again',
    );
  }
  return gone;
}

/**
 * Created, with our hash and the name that fits its run id, not being dealt with here, and either old enough or of an earlier
 * life of this very instance. A copied label or an older agent's container is never one.
 */
export function isLeftOver(
  container: SeenContainer,
  parts: Pick<SweepParts, 'instanceId' | 'startedAtMs' | 'graceMs' | 'adopted'>,
  nowMs: number,
): boolean {
  const { labels } = container;
  const runId = labels[LABEL.runId];
  if (container.state !== 'created' || !labels[LABEL.specSha256]) return false;
  if (runId === undefined || container.name !== containerName(runId) || parts.adopted(container.id)) return false;
  if (nowMs - container.createdAtMs >= parts.graceMs) return true;
  const admittedAtMs = Date.parse(labels[LABEL.admittedAt] ?? '');
  return labels[LABEL.admittedBy] === parts.instanceId && admittedAtMs < parts.startedAtMs;
}
