/**
 * A claim, from a request to its decision, in the nine steps of src/README.md. Only the creator starts: a process starts what it
 * created itself, once, and what anybody else created is answered, waited for or removed.
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
import type { Existing } from './existing/existing-meaning.js';
import { findOnceShown } from './existing/find-created.js';
import { lookUp } from './existing/look-up.js';
import type { RecentRuns } from './existing/recent-runs.js';
import { outOfTries } from './out-of-tries.js';
import { readyImage } from './ready-image.js';
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

/** How often one request starts over before it is told to come again. */
const TRIES = 6;

/** Decides one request. */
export async function claim(admission: Admission, parts: ClaimingParts): Promise<Decision> {
  for (let tries = 1; ; tries++) {
    const decision = await tryOnce(admission, parts);
    if (decision.kind !== 'again') return decision;
    const { why } = decision;
    if (tries === TRIES || parts.clock.monotonic() >= admission.untilMs) return atLast(admission, why, parts);
    if (why === 'name_taken') await findOnceShown(admission.spec.runId, parts);
    else await pause(20 + parts.random() * 50 * 2 ** tries, parts.clock, admission.gone);
  }
}

/** A start in doubt may have happened after all: "nothing is left" is said only where a last look shows nothing. */
async function atLast(admission: Admission, why: Again['why'], parts: ClaimingParts): Promise<Decision> {
  const { spec } = admission;
  const existing = why === 'gone' ? await lookUp(spec, parts) : null;
  if (existing === null) return outOfTries(spec, why);
  if (SETTLED.has(existing.kind)) {
    const answer = await answerExisting(existing, admission, parts);
    if (answer.kind !== 'again') return answer;
  }
  return refuse('create_failed', {
    detail: 'what there is of this run was another each time it was looked at; ask again with the same run_id',
    rolledBack: false,
  });
}

/** Rows of the table that are answered as they are, with nothing to wait for or to remove. */
const SETTLED: ReadonlySet<Existing['kind']> = new Set(['alive', 'ended', 'has_run', 'refused'] as const);

async function tryOnce(admission: Admission, parts: ClaimingParts): Promise<Decision | Again> {
  const { spec, gone } = admission;
  if (parts.draining()) return refuse('draining', { detail: 'this gate is shutting down; ask again in a moment' });
  if (gone.aborted) return { kind: 'client_gone' };
  // 1. Whatever there is of this run answers, be everything else down; if there is nothing, the image is made sure of.
  const attempt = parts.attempts.of(spec.runId);
  const existing = await lookUp(spec, parts);
  if (existing !== null) return answerExisting(existing, admission, parts);
  if (attempt !== null) return waitForCreate(attempt, admission, parts);
  const withoutImage = await readyImage(spec, parts, parts.settings.pullWaitMs);
  if (withoutImage !== null) return withoutImage;
  // 2. Wait for a turn under the lock, in which `serveBatch` goes through steps 3 to 7 for all who wait.
  const turn = await (spec.count === 0 ? claimNoCards(admission, parts) : waitForTurn(admission, parts));
  switch (turn.kind) {
    case 'existing':
      return answerExisting(turn.existing, admission, parts);
    case 'claimed':
      // 8. and 9. Start it, once, and take back what would not start.
      return startClaim(turn, parts);
    default:
      return turn;
  }
}

/** A job without cards holds nothing that others want: it needs neither look nor lock, and is checked all the same. */
async function claimNoCards(admission: Admission, parts: ClaimingParts): Promise<TurnResult> {
  const made = await claimInTime(admission, { cards: [], placement: null, admittedBlind: false }, null, parts);
  if (made.kind !== 'claimed') return made;
  const [checked] = await checkClaims([made], null, parts);
  return checked === undefined || checked.kind === 'good' ? made : yieldClaim(made, checked, parts);
}

/** Answers when it runs, when it failed, or when it takes too long. */
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

/** The caller was told `starting`: how it ended can be asked for an hour. */
function rememberLate(late: Ended, { spec, cards }: Claimed, { clock, log, recentRuns }: ClaimingParts): void {
  if (late.kind !== 'refused') return;
  log.warn({ run_id: spec.runId, code: late.code, daemon_message: late.daemonMessage }, 'a slow start failed');
  recentRuns.startFailed({
    runId: spec.runId,
    state: 'start_failed',
    cards: cards.map(({ index, uuid }) => ({ index, uuid })),
    exitCode: null,
    oomKilled: null,
    error: late.daemonMessage ?? late.detail,
    createdAt: null,
    startedAt: null,
    finishedAt: new Date(clock.now()).toISOString(),
  });
}
