/**
 * The answer where the run already has a container: one function per row of the table in src/README.md. Waits happen outside
 * the lock.
 */

import type { Decision, Running } from '../model/admission.js';
import { LABEL } from '../model/labels.js';
import type { CardStore } from '../model/ports/card-store.js';
import type { Hands } from '../model/ports/hands.js';
import type { Meter } from '../model/ports/meter.js';
import type { Clock, Log } from '../model/ports/outside.js';
import { refuse } from '../model/refuse.js';
import type { SeenContainer } from '../model/snapshot.js';
import { inTime } from '../time/in-time.js';
import type { Admission, Again } from './admission.js';
import type { Attempts, Ended } from './attempts.js';
import { endedAnswer, runningAnswer } from './existing/existing-answers.js';
import type { Existing } from './existing/existing-meaning.js';
import type { LookUpParts } from './existing/look-up.js';
import { takeBack } from './take-back.js';
import { waitUntilChanged } from './wait-until-changed.js';

export interface AnswerParts extends LookUpParts {
  readonly hands: Pick<Hands, 'remove'>;
  readonly cardStore: Pick<CardStore, 'remembered'>;
  readonly attempts: Pick<Attempts, 'of'>;
  readonly clock: Clock;
  readonly meter: Pick<Meter, 'leftOverRemoved' | 'granted'>;
  readonly log: Log;
  readonly settings: { readonly admitTimeoutMs: number; readonly startTimeoutMs: number };
}

/** `again`: the existing container is gone or has changed. */
export async function answerExisting(
  existing: Existing,
  admission: Admission,
  parts: AnswerParts,
): Promise<Decision | Again> {
  switch (existing.kind) {
    case 'alive':
      return { kind: 'admitted', replayed: true, ...answerOf(existing.container, parts) };
    case 'ended':
      return endedAnswer(existing.container, parts.cardStore.remembered(), parts.books);
    case 'has_run': {
      const { container, exitCode } = existing.run;
      const running = runningAnswer({ ...container, state: 'exited' }, parts.cardStore.remembered(), exitCode);
      return { kind: 'ended', ...running };
    }
    case 'under_way':
      return waitForOwn(existing.container, admission, parts);
    case 'left_behind':
      return removeLeftBehind(existing.container, admission, parts);
    case 'of_another_gate':
      return waitForOther(existing.container, admission, parts);
    case 'removing':
      return waitUntilGone(existing.container, admission, parts);
    case 'refused':
      return existing;
    default:
      return existing satisfies never;
  }
}

/** This process is creating a container that no list shows yet. The request that began it has been answered. */
export async function waitForCreate(
  attempt: Promise<Ended>,
  admission: Admission,
  parts: AnswerParts,
): Promise<Decision | Again> {
  const ended = await inTime(attempt, Math.max(0, admission.untilMs - parts.clock.monotonic()), parts.clock);
  if (ended !== null) return { kind: 'again', why: 'changed' };
  return refuse('docker_unavailable', {
    detail:
      'an earlier create of this run has not been answered yet, and no list shows it; ask again with the same run_id',
    rolledBack: false,
  });
}

/** The decision once a start by this process has ended. */
export function afterStart(ended: Ended, answer: Running, replayed: boolean): Decision | Again {
  switch (ended.kind) {
    case 'running':
      return { ...answer, kind: 'admitted', replayed, run: { ...answer.run, state: ended.state } };
    case 'look_again':
      return { kind: 'again', why: 'changed' };
    case 'refused':
      return ended;
    default:
      return ended satisfies never;
  }
}

async function waitForOwn(
  container: SeenContainer,
  admission: Admission,
  parts: AnswerParts,
): Promise<Decision | Again> {
  const attempt = parts.attempts.of(admission.spec.runId);
  if (attempt === null) return { kind: 'again', why: 'changed' };
  // Counted from the arrival of the request, not from its turn: many requests for one run must not wait one after the other.
  const { admitTimeoutMs, startTimeoutMs } = parts.settings;
  const leftMs = Math.max(0, admission.untilMs - admitTimeoutMs + startTimeoutMs - parts.clock.monotonic());
  const ended = await inTime(attempt, leftMs, parts.clock);
  const answer = answerOf(container, parts);
  return ended === null ? { kind: 'starting', ...answer } : afterStart(ended.value, answer, true);
}

/** Its creator will never start it, and nobody else may: remove it by id and decide the run anew. */
async function removeLeftBehind(
  container: SeenContainer,
  { spec: { runId } }: Admission,
  parts: AnswerParts,
): Promise<Decision | Again> {
  const taken = await takeBack(container.id, parts.hands);
  if (taken.kind === 'in_doubt') {
    return refuse('docker_unavailable', {
      detail: `the container that an earlier gate created for this run could not be removed: ${taken.detail}`,
      rolledBack: false,
    });
  }
  if (taken.kind === 'taken_back') {
    parts.meter.leftOverRemoved();
    parts.log.warn(
      { run_id: runId, container_id: container.id },
      'removed a container that its gate created and never started; the run is decided anew',
    );
  }
  return { kind: 'again', why: 'changed' };
}

/**
 * Another gate starts it, or dies. Once it has been seen `created` for the grace period it counts as abandoned, which ends
 * this wait too.
 */
async function waitForOther(
  container: SeenContainer,
  admission: Admission,
  parts: AnswerParts,
): Promise<Decision | Again> {
  const changed = await waitUntilChanged(container, admission, parts);
  if (changed !== null) return changed;
  const gate = container.labels[LABEL.admittedBy] || 'another gate';
  return {
    kind: 'starting',
    ...answerOf(container, parts),
    explain: `the gate ${gate} created this run's container and alone may start it; until then the run may still come to wait`,
  };
}

async function waitUntilGone(
  container: SeenContainer,
  admission: Admission,
  parts: AnswerParts,
): Promise<Decision | Again> {
  const changed = await waitUntilChanged(container, admission, parts);
  if (changed !== null) return changed;
  const { cards } = answerOf(container, parts);
  return {
    kind: 'wait',
    requested: admission.spec.count,
    free: 0,
    retryAfterSeconds: 5,
    explain: `the earlier container of this run (${container.name}) is still being removed`,
    reasons: [{ code: 'job_held', cards: cards.flatMap(({ index }) => (index === null ? [] : [index])) }],
  };
}

function answerOf(container: SeenContainer, parts: Pick<AnswerParts, 'cardStore'>): Running {
  return runningAnswer(container, parts.cardStore.remembered());
}
