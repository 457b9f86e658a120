/** Creates the container that claims the cards, and never lets a slow create block others: step 6 in src/README.md. */

import type { Grant, JobSpec, Refusal, Running } from '../model/admission.js';
import type { Clock, Log } from '../model/ports/outside.js';
import { refuse } from '../model/refuse.js';
import type { Snapshot } from '../model/snapshot.js';
import { inTime } from '../time/in-time.js';
import type { Admission, Again, Claimed } from './admission.js';
import type { Attempts } from './attempts.js';
import { checkClaims, type CheckParts } from './check-claims.js';
import { createContainer, type CreateParts } from './create-container.js';
import type { NewGrant } from './grants.js';
import type { Starts } from './starts.js';
import { yieldClaim, type YieldParts } from './yield-claim.js';

export type ClaimParts = CreateParts &
  CheckParts &
  YieldParts & {
    readonly attempts: Attempts;
    readonly starts: Pick<Starts, 'begin'>;
    readonly newGrant: NewGrant;
    readonly clock: Clock;
    readonly log: Log;
  };

/** The picked cards; a job without cards has no cards and no placement. */
export type Picked = Pick<Running, 'cards' | 'placement' | 'admittedBlind'>;

/** After this time, the wait for the create goes on outside the lock. */
const CREATE_WITHIN_MS = 5000;

/**
 * Creates the container of a run on the picked cards. If the create does not answer in time, the others go on without it.
 * Should the container appear later, it is checked and started without the lock, and a repeated request for the run gets its
 * result. Rejects only on a bug of ours.
 */
export async function claimInTime(
  { spec, principal, gone }: Admission,
  picked: Picked,
  looked: Snapshot | null,
  parts: ClaimParts,
): Promise<Claimed | Again | Refusal | { readonly kind: 'client_gone' }> {
  if (gone.aborted) return { kind: 'client_gone' };
  const making = makeClaim(spec, parts.newGrant(picked.cards, principal), picked, parts);
  const made = await inTime(making, CREATE_WITHIN_MS, parts.clock);
  if (made !== null) return made.value;
  void finishLate(making, looked, parts);
  return refuse('docker_unavailable', {
    detail: `the runtime has not answered the create within ${CREATE_WITHIN_MS / 1000} s; it goes on, ask again with the same run_id`,
    rolledBack: false,
  });
}

async function makeClaim(
  spec: JobSpec,
  grant: Grant,
  { cards, placement, admittedBlind }: Picked,
  parts: ClaimParts,
): Promise<Claimed | Again | Refusal> {
  const { attempts } = parts;
  attempts.begin(spec.runId, grant);
  let claimed = false;
  try {
    const made = await createContainer(spec, grant, parts);
    if (made.kind !== 'created') return made;
    claimed = true;
    return { kind: 'claimed', spec, grant, containerId: made.id, cards, placement, admittedBlind };
  } finally {
    if (!claimed) attempts.end(spec.runId, { kind: 'look_again' });
  }
}

/** If the slow container appears, takes it through the remaining steps. Its caller has been answered already. */
async function finishLate(
  making: ReturnType<typeof makeClaim>,
  looked: Snapshot | null,
  parts: ClaimParts,
): Promise<void> {
  try {
    const made = await making;
    if (made.kind !== 'claimed') return;
    const [checked] = await checkClaims([made], looked, parts);
    if (checked === undefined || checked.kind === 'good') await parts.starts.begin(made);
    else await yieldClaim(made, checked, parts);
  } catch (error) {
    parts.log.error({ err: error }, 'the claim of a slow create could not be completed');
  }
}
