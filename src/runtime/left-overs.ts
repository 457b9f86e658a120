/** Containers that a gate created and never started: their cards come back. */

import { LABEL, containerName } from '../model/labels.js';
import type { Books } from '../model/ports/books.js';
import type { Hands } from '../model/ports/hands.js';
import type { Meter } from '../model/ports/meter.js';
import type { Clock, Log } from '../model/ports/outside.js';
import type { SeenContainer } from '../model/snapshot.js';

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

const SWEEP_EVERY_MS = 30_000;

/** Sweeps now and from time to time, and never throws; returns the way to stop. */
export function startSweeping(parts: SweepParts & { readonly clock: Clock }): () => void {
  const { clock, graceMs, log } = parts;
  const sweep = (): void =>
    void sweepLeftOvers(parts, clock.now()).catch((error: unknown) =>
      log.error({ err: error }, 'a sweep for left-over containers failed'),
    );
  const sweeping = setInterval(sweep, Math.min(SWEEP_EVERY_MS, Math.max(1000, graceMs / 4)));
  sweep();
  return () => clearInterval(sweeping);
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
