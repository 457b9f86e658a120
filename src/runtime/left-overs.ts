/** Removes containers that a gate created and will never start, which frees their cards. See src/README.md#left-overs. */

import { LABEL, containerName } from '../model/labels.js';
import type { Books } from '../model/ports/books.js';
import type { CreatedSince } from '../model/ports/created-since.js';
import type { Hands } from '../model/ports/hands.js';
import type { Meter } from '../model/ports/meter.js';
import type { Clock, Log } from '../model/ports/outside.js';
import type { SeenContainer } from '../model/snapshot.js';
import { standingOf, type Standpoint } from '../occupancy/left-behind.js';

export interface SweepParts {
  readonly books: Pick<Books, 'list' | 'isCopy'>;
  readonly hands: Pick<Hands, 'remove'>;
  readonly createdSince: CreatedSince;
  readonly standpoint: Standpoint;
  readonly meter: Pick<Meter, 'leftOverRemoved'>;
  readonly log: Log;
}

const SWEEP_EVERY_MS = 30_000;

/** Sweeps now and periodically, one sweep at a time, and never throws. Returns the function that stops it. */
export function startSweeping(
  parts: SweepParts & { readonly clock: Pick<Clock, 'after'>; readonly graceMs: number },
): () => void {
  const { clock, graceMs, log } = parts;
  const everyMs = Math.min(SWEEP_EVERY_MS, Math.max(1000, graceMs / 4));
  let stopped = false;
  let callOff: (() => void) | undefined;

  async function sweepAndGoOn(): Promise<void> {
    await sweepLeftOvers(parts).catch((error: unknown) =>
      log.error({ err: error }, 'a sweep for left-over containers failed'),
    );
    if (!stopped) callOff = clock.after(everyMs, () => void sweepAndGoOn());
  }

  void sweepAndGoOn();
  return () => {
    stopped = true;
    callOff?.();
  };
}

/**
 * One sweep, outside the lock: removes left-overs by id and without force, each after checking its state once more. Returns
 * the removed ids; if the list fails, removes nothing.
 */
export async function sweepLeftOvers(parts: SweepParts): Promise<readonly string[]> {
  const listed = await parts.books.list();
  if (listed.kind === 'blind') return [];
  const { containers } = listed.value;
  parts.createdSince.see(containers, true);
  const gone: string[] = [];
  for (const container of containers.filter((one) => isLeftOver(one, parts.standpoint))) {
    if (await isSomebodyElses(container, parts.books)) continue;
    // Checked again: an attempt at it may have begun while others were removed.
    if (!isLeftOver(container, parts.standpoint)) continue;
    const removed = await parts.hands.remove(container.id, 'created');
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

/** Created, with our hash, and abandoned. A container of an older agent, which has no hash, never counts. */
export function isLeftOver(container: SeenContainer, from: Standpoint): boolean {
  if (container.state !== 'created' || !container.labels[LABEL.specSha256]) return false;
  return standingOf(container, from) === 'left_behind';
}

/** A container under another name than a gate gives may be of an image committed from a job. In doubt it is left alone. */
async function isSomebodyElses(container: SeenContainer, books: Pick<Books, 'isCopy'>): Promise<boolean> {
  if (container.name === containerName(container.labels[LABEL.runId] ?? '')) return false;
  return (await books.isCopy(container)) !== false;
}
