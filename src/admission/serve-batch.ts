/**
 * Serves one batch while the lock is held once: steps 3 to 8 in src/README.md. Correctness does not rest on the lock: every
 * gate that lists containers sees a created one, and a claim that finds another on its cards yields.
 */

import type { LineRules } from '../line/walk.js';
import type { Refusal } from '../model/admission.js';
import type { Occupancy } from '../model/occupancy.js';
import type { Observation, Observer } from '../model/ports/eyes.js';
import type { Line } from '../model/ports/line.js';
import type { Hold } from '../model/ports/lock.js';
import type { Meter } from '../model/ports/meter.js';
import { refuse } from '../model/refuse.js';
import type { Snapshot } from '../model/snapshot.js';
import type { Claimed, Served, TurnResult } from './admission.js';
import { checkClaims, type Checked } from './check-claims.js';
import { claimInTime, type ClaimParts } from './claim-cards.js';
import { findContainers, meaningOf, type LookUpParts } from './existing/look-up.js';
import { planBatch, type Asked, type Plan } from './plan.js';
import { takenAway } from './taken-away.js';
import { yieldClaim } from './yield-claim.js';

export type ServeParts = ClaimParts &
  LookUpParts & {
    readonly observer: Pick<Observer, 'fresh'>;
    readonly meter: Pick<Meter, 'phase'>;
    readonly line: Pick<Line, 'places'>;
    /** Called with the look that a turn was decided by. */
    readonly looked: (occupancy: Occupancy) => void;
    readonly settings: LineRules & { readonly lockThrough: 'claim' | 'start' };
  };

/** Answers each request as soon as its result is known; settles when the lock is no longer needed. */
export async function serveBatch(batch: readonly Served[], hold: Hold, parts: ServeParts): Promise<void> {
  // Step 3: look again, now that no other holder of the lock decides.
  const seen = await timed('look', parts, () => lookAgain(batch, parts));
  if (seen.kind === 'refused') return answerAll(batch, seen);
  // Step 4: judge the cards and pick.
  const { occupancy } = seen.observation;
  parts.looked(occupancy);
  const plans = planBatch(seen.asked, parts.line.places(), occupancy, parts.settings);
  const toCreate = batch.flatMap((served, at) => withCards(served, plans[at]!));
  if (toCreate.length === 0) return;
  // Step 5: confirm that the lock is still ours.
  if (!(await hold.confirm())) {
    return answerAll(
      toCreate.map(({ served }) => served),
      { kind: 'again', why: 'lease_lost' },
    );
  }
  await timed('claim', parts, async () => {
    // Step 6: create. From here on every gate that lists containers counts these cards as held.
    const { snapshot } = seen.observation;
    const claimed = (await Promise.all(toCreate.map((one) => claim(one, snapshot, parts)))).filter(
      (one) => one !== null,
    );
    // Step 7: list again.
    const checked = await checkClaims(
      claimed.map((one) => one.claim),
      snapshot,
      parts,
    );
    // Step 8: give the lock back, then start; or start first, where another allocator does not count containers that are
    // only created.
    if (parts.settings.lockThrough === 'claim') await hold.release();
    const started = claimed.map((one, at) => conclude(one, checked[at]!, parts));
    if (parts.settings.lockThrough === 'start') await untilLost(Promise.all(started), hold.lost);
  });
}

type Looked =
  | { readonly kind: 'looked'; readonly observation: Observation; readonly asked: readonly Asked[] }
  | Refusal;

/**
 * Takes a snapshot and lists each run of the batch, in parallel. If one run cannot be listed, only that request is refused.
 */
async function lookAgain(batch: readonly Served[], parts: ServeParts): Promise<Looked> {
  const [observation, ...runs] = await Promise.all([
    parts.observer.fresh(),
    ...batch.map(({ job }) => findContainers(job.spec.runId, parts.books)),
  ]);
  const { docker } = observation.snapshot;
  if (docker.kind === 'blind') {
    return refuse('docker_unavailable', { detail: `the containers could not be listed: ${docker.detail}` });
  }
  const asked = batch.map(({ job: { spec } }, at) => {
    const containers = runs[at] ?? [];
    return { spec, existing: 'kind' in containers ? containers : meaningOf(containers, spec, parts) };
  });
  return { kind: 'looked', observation, asked };
}

interface ToCreate {
  readonly served: Served;
  readonly plan: Extract<Plan, { kind: 'create' }>;
}

/** Answers the request unless the plan is to create; returns the plans that create. */
function withCards(served: Served, plan: Plan): readonly ToCreate[] {
  if (served.job.asking.takenAway !== null) {
    served.answer(takenAway(served.job.asking.takenAway, served.job.spec));
    return [];
  }
  if (plan.kind === 'create') return [{ served, plan }];
  if (plan.kind === 'fault') served.fail(plan.error);
  else served.answer(plan);
  return [];
}

interface Made {
  readonly served: Served;
  readonly claim: Claimed;
}

/** A failure answers this request alone; the others go on. */
async function claim({ served, plan }: ToCreate, snapshot: Snapshot, parts: ServeParts): Promise<Made | null> {
  try {
    const made = await claimInTime(served.job, plan, snapshot, parts);
    if (made.kind === 'claimed') return { served, claim: made };
    served.answer(made);
  } catch (error) {
    served.fail(error);
  }
  return null;
}

/** Settles when the container has left `created` or has been removed. Never rejects. */
async function conclude({ served, claim: made }: Made, checked: Checked, parts: ServeParts): Promise<void> {
  if (checked.kind !== 'good') return served.answer(await yieldClaim(made, checked, parts));
  const started = parts.settings.lockThrough === 'start' ? parts.starts.begin(made) : null;
  served.answer(made);
  await started;
}

function answerAll(batch: readonly Served[], result: TurnResult): void {
  for (const served of batch) served.answer(result);
}

async function untilLost(work: Promise<unknown>, lost: AbortSignal): Promise<void> {
  const over = new AbortController();
  const aborted = new Promise<void>((resolve) => {
    if (lost.aborted) resolve();
    lost.addEventListener('abort', () => resolve(), { once: true, signal: over.signal });
  });
  await Promise.race([work, aborted]);
  over.abort();
}

async function timed<T>(phase: 'look' | 'claim', { clock, meter }: ServeParts, work: () => Promise<T>): Promise<T> {
  const began = clock.monotonic();
  const done = await work();
  meter.phase(phase, (clock.monotonic() - began) / 1000);
  return done;
}
