/**
 * A claim, from the request to its decision, in the nine steps of src/README.md. Only the creator starts: a process starts,
 * once, what it created itself; a container that anyone else created is answered, waited for or removed.
 */

import type { Decision } from '../model/admission.js';
import { containerName } from '../model/labels.js';
import type { Hands } from '../model/ports/hands.js';
import { refuse } from '../model/refuse.js';
import { inTime } from '../time/in-time.js';
import { pause } from '../time/pause.js';
import type { Admission, Again, Claimed, TurnResult } from './admission.js';
import { afterStart, answerExisting, waitForCreate, type AnswerParts } from './answer-existing.js';
import type { Ended } from './attempts.js';
import { checkClaims } from './check-claims.js';
import { claimInTime, type ClaimParts } from './claim-cards.js';
import { findOnceShown } from './existing/find-created.js';
import { lookUp } from './existing/look-up.js';
import type { RecentRuns } from './existing/recent-runs.js';
import { outOfTries } from './out-of-tries.js';
import { readyImage } from './ready-image.js';
import { takenAway } from './taken-away.js';
import { waitForTurn, type WaitForTurnParts } from './wait-for-turn.js';
import { yieldClaim } from './yield-claim.js';

export type ClaimingParts = ClaimParts &
  AnswerParts &
  WaitForTurnParts & {
    readonly hands: Pick<Hands, 'ensureImage'>;
    readonly recentRuns: RecentRuns;
    /** Between 0 and 1. */
    readonly random: () => number;
    readonly draining: () => boolean;
    readonly settings: { readonly pullWaitMs: number };
  };

/** How often one request starts over before its caller is told to try again. */
const TRIES = 6;

/** Decides one request. */
export async function claim(admission: Admission, parts: ClaimingParts): Promise<Decision> {
  for (let tries = 1; ; tries++) {
    const decision = await tryOnce(admission, parts);
    if (decision.kind !== 'again') return decision;
    const { why } = decision;
    if (tries === TRIES || parts.clock.monotonic() >= admission.untilMs) return giveUp(why, admission, parts);
    if (why === 'name_taken') await findOnceShown(admission.spec.runId, parts);
    else await pause(20 + parts.random() * 50 * 2 ** tries, parts.clock, admission.gone);
  }
}

async function tryOnce(admission: Admission, parts: ClaimingParts): Promise<Decision | Again> {
  const { spec, gone, asking } = admission;
  if (asking.takenAway !== null) return takenAway(asking.takenAway, spec);
  if (parts.draining()) return refuse('draining', { detail: 'this gate is shutting down; ask again in a moment' });
  if (gone.aborted) return { kind: 'client_gone' };
  // Steps 1 to 9 in src/README.md. Step 1: an existing container of this run answers, whatever else is down. If there is
  // none, make sure the image is here.
  const attempt = parts.attempts.of(spec.runId);
  const existing = await lookUp(spec, parts);
  if (existing !== null) return answerExisting(existing, admission, parts);
  if (attempt !== null) return waitForCreate(attempt, admission, parts);
  const noPlace = spec.count === 0 ? null : asking.take();
  if (noPlace !== null) return noPlace;
  const withoutImage = await readyImage(spec, parts, parts.settings.pullWaitMs);
  // Whoever stopped the run while its image was being pulled is done with it; the pull goes on, for others.
  if (asking.takenAway !== null) return takenAway(asking.takenAway, spec);
  if (withoutImage !== null) return withoutImage;
  asking.imageHere();
  // Step 2: wait for a turn under the lock; `serveBatch` does steps 3 to 7 for all requests that wait.
  const turn = await (spec.count === 0 ? claimNoCards(admission, parts) : waitForTurn(admission, parts));
  switch (turn.kind) {
    case 'existing':
      return answerExisting(turn.existing, admission, parts);
    case 'claimed':
      // Steps 8 and 9: start it, once, and remove it if the start fails.
      return startClaim(turn, parts);
    default:
      return turn;
  }
}

/** What exists of the run now may answer the request, even when no tries or time are left. */
async function giveUp(why: Again['why'], admission: Admission, parts: ClaimingParts): Promise<Decision> {
  const existing = why === 'changed' ? await lookUp(admission.spec, parts) : null;
  const decision = existing === null ? null : await answerExisting(existing, admission, parts);
  return decision === null || decision.kind === 'again' ? outOfTries(admission.spec, why) : decision;
}

/** A job without cards competes with nobody: it needs neither a snapshot nor the lock, but is checked all the same. */
async function claimNoCards(admission: Admission, parts: ClaimingParts): Promise<TurnResult> {
  const made = await claimInTime(admission, { cards: [], placement: null, admittedBlind: false }, null, parts);
  if (made.kind !== 'claimed') return made;
  const [checked] = await checkClaims([made], null, parts);
  return checked === undefined || checked.kind === 'good' ? made : yieldClaim(made, checked, parts);
}

/** Answers when the container runs, when the start has failed, or when the start takes too long. */
async function startClaim(claimed: Claimed, parts: ClaimingParts): Promise<Decision | Again> {
  const { spec, cards, placement, admittedBlind, containerId } = claimed;
  const run = { name: containerName(spec.runId), containerId, state: 'created', exitCode: null } as const;
  const answer = { run, cards, placement, admittedBlind };
  parts.recentRuns.forget(spec.runId);
  const ending = parts.starts.begin(claimed);
  const ended = await inTime(ending, parts.settings.startTimeoutMs, parts.clock);
  if (ended === null) {
    void ending.then((late) => rememberLate(late, claimed, parts));
    parts.meter.granted(spec.count);
    return { kind: 'starting', ...answer };
  }
  if (ended.value.kind === 'running') parts.meter.granted(spec.count);
  return afterStart(ended.value, answer, false);
}

/** The caller was told `starting`, so the outcome stays available for an hour. */
function rememberLate(late: Ended, { spec, cards, grant }: Claimed, { clock, log, recentRuns }: ClaimingParts): void {
  if (late.kind !== 'refused') return;
  log.warn({ run_id: spec.runId, code: late.code, daemon_message: late.daemonMessage }, 'a slow start failed');
  recentRuns.startFailed({
    runId: spec.runId,
    state: 'start_failed',
    principal: grant.principal,
    labels: spec.container.labels,
    image: spec.container.image || null,
    command: [...(spec.container.entrypoint ?? []), ...(spec.container.command ?? [])].join(' ') || null,
    cards: cards.map(({ index, uuid }) => ({ index, uuid })),
    exitCode: null,
    oomKilled: null,
    error: late.daemonMessage ?? late.detail,
    createdAt: null,
    startedAt: null,
    finishedAt: new Date(clock.now()).toISOString(),
  });
}
