/** Step 7 of a claim: whether what was just created may be started. Reads only. */

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
  /** It is there, created, alone on its cards and the only container of its run: start it. */
  | { readonly kind: 'good' }
  /** Take it back, and then say this. */
  | { readonly kind: 'yield'; readonly result: Again | Refusal }
  /** It is not `created` any more: somebody had a hand in it, and the table says what it means. Never a start. */
  | { readonly kind: 'look_again' };

export interface CheckParts {
  readonly books: Books;
  readonly observer: Pick<Observer, 'rejudge'>;
}

/**
 * Lists again, all that lives and each run by itself, side by side. Whoever finds another claim on its cards yields, always: an
 * older one that wins starts twice, since a container's time stamp is older than its visibility. `looked` is the look that the
 * cards were picked by; null where all claims are on no cards.
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
  if (own !== undefined && own.state !== 'created') return { kind: 'look_again' };
  // Removed by somebody, or the lists show not everything, or other cards than were asked for: what is not in the books is not started.
  const isInBooks = own !== undefined && (occupancy === null || holdsAll(containerId, cards, occupancy));
  if (!isInBooks) return { kind: 'yield', result: { kind: 'again', why: 'gone' } };
  const rival = ofRun.length > 1 || (occupancy !== null && hasRival(containerId, cards, occupancy));
  return rival ? { kind: 'yield', result: { kind: 'again', why: 'lost_race' } } : { kind: 'good' };
}

function notListed(detail: string): Refusal {
  return refuse('docker_unavailable', {
    detail: `the containers could not be listed again after the create, so nothing was started: ${detail}`,
  });
}
