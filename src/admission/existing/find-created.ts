/**
 * Finds out by a list whether a create without an answer succeeded. An inspect can hang for as long as a start does; a list
 * does not.
 */

import type { Grant, JobSpec } from '../../model/admission.js';
import { isOf } from '../../model/labels.js';
import type { Books } from '../../model/ports/books.js';
import type { Clock } from '../../model/ports/outside.js';
import type { SeenContainer } from '../../model/snapshot.js';
import { pause } from '../../time/pause.js';
import { existingRun } from './existing-run.js';

export type Found =
  | { readonly kind: 'found'; readonly container: SeenContainer }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'blind'; readonly detail: string };

export interface FindParts {
  readonly books: Pick<Books, 'findRun'>;
  readonly clock: Clock;
}

/** How long to repeat the list: the loser of two simultaneous creates sees nothing at first. */
const SHOWS_WITHIN_MS = 2000;
const ASK_EVERY_MS = 100;

/**
 * The container of exactly this attempt, if the create succeeded after all. `withinMs` 0 lists once, for when the runtime
 * did answer, so that anything it created is visible at once.
 */
export function findCreated(spec: JobSpec, grant: Grant, parts: FindParts, withinMs = SHOWS_WITHIN_MS): Promise<Found> {
  return findWithin(spec.runId, withinMs, parts, ({ labels }) => isOf(grant, labels));
}

/** Whatever holds the name or the run id, once a list shows it. */
export function findOnceShown(runId: string, parts: FindParts): Promise<Found> {
  return findWithin(runId, SHOWS_WITHIN_MS, parts, (container) => existingRun([container], runId).kind !== 'none');
}

async function findWithin(
  runId: string,
  withinMs: number,
  { books, clock }: FindParts,
  fits: (container: SeenContainer) => boolean,
): Promise<Found> {
  const until = clock.monotonic() + withinMs;
  for (;;) {
    const listed = await books.findRun(runId);
    if (listed.kind === 'blind') return { kind: 'blind', detail: listed.detail };
    const container = listed.value.find(fits);
    if (container) return { kind: 'found', container };
    if (clock.monotonic() >= until) return { kind: 'nothing' };
    await pause(ASK_EVERY_MS, clock);
  }
}
