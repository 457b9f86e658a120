/** Whether a container that was just created may be started: step 7 in src/README.md. Reads only. */

import type { Refusal } from '../model/admission.js';
import type { Occupancy } from '../model/occupancy.js';
import type { Books } from '../model/ports/books.js';
import type { Observer } from '../model/ports/eyes.js';
import { refuse } from '../model/refuse.js';
import type { SeenContainer, Snapshot } from '../model/snapshot.js';
import type { Again, Claimed } from './admission.js';
import { findContainers } from './existing/look-up.js';
import { hasRival, holdsAll } from './plan.js';

export type Checked =
  /** It exists, is `created`, is alone on its cards and the only container of its run: start it. */
  | { readonly kind: 'good' }
  /** Remove it, then answer with this. */
  | { readonly kind: 'yield'; readonly result: Again | Refusal }
  /** It is no longer `created`, so something else acted on it. Decide by the table in src/README.md, and never start it. */
  | { readonly kind: 'look_again' };

export interface CheckParts {
  readonly books: Books;
  readonly observer: Pick<Observer, 'rejudge'>;
}

/**
 * Lists all live containers, and each run by itself, in parallel. A claim that finds another on its cards always yields: if
 * the older one won, two could start, since a container is visible later than its time stamp says. `looked` is the snapshot
 * that the cards were picked from; null where no claim has cards.
 */
export async function checkClaims(
  claims: readonly Claimed[],
  looked: Snapshot | null,
  parts: CheckParts,
): Promise<readonly Checked[]> {
  if (claims.length === 0) return [];
  const [occupancy, ...runs] = await Promise.all([
    looked === null ? null : judgeAgain(looked, parts),
    ...claims.map(({ spec }) => findContainers(spec.runId, parts.books)),
  ]);
  return claims.map((claimed, at) => checkOne(claimed, runs[at] ?? [], occupancy));
}

async function judgeAgain(looked: Snapshot, { books, observer }: CheckParts): Promise<Occupancy | Refusal> {
  const docker = await books.list();
  return docker.kind === 'blind' ? notListed(docker.detail) : observer.rejudge({ ...looked, docker });
}

function checkOne(
  { containerId, cards }: Claimed,
  ofRun: readonly SeenContainer[] | Refusal,
  occupancy: Occupancy | Refusal | null,
): Checked {
  if ('kind' in ofRun) return { kind: 'yield', result: notListed(ofRun.detail) };
  if (occupancy !== null && 'kind' in occupancy) return { kind: 'yield', result: occupancy };
  const own = ofRun.find(({ id }) => id === containerId);
  // The two lists are from different moments: a container that either shows outside `created` is not started.
  const hasLeft = own !== undefined && (own.state !== 'created' || hasLeftCreated(containerId, occupancy));
  if (hasLeft) return { kind: 'look_again' };
  // Removed by someone, or missing from the lists, or on other cards than asked for: start nothing that the lists do not
  // confirm.
  const isInBooks = own !== undefined && (occupancy === null || holdsAll(containerId, cards, occupancy));
  if (!isInBooks) return { kind: 'yield', result: { kind: 'again', why: 'gone' } };
  const rival = ofRun.length > 1 || (occupancy !== null && hasRival(containerId, cards, occupancy));
  return rival ? { kind: 'yield', result: { kind: 'again', why: 'lost_race' } } : { kind: 'good' };
}

function hasLeftCreated(id: string, occupancy: Occupancy | null): boolean {
  const claims = occupancy?.cards.flatMap((card) => card.claims) ?? [];
  return claims.some(({ containerId, state }) => containerId === id && state !== 'created');
}

function notListed(detail: string): Refusal {
  return refuse('docker_unavailable', {
    detail: `the containers could not be listed again after the create, so nothing was started: ${detail}`,
  });
}
