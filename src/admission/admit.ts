/** The claim protocol, from a request to its decision. `turn.ts` is the part under the lock, `launch.ts` the start. */

import type { Decision, Grant, JobSpec } from '../model/admission.js';
import { containerName } from '../model/labels.js';
import type { Books } from '../model/ports/books.js';
import type { CardStore } from '../model/ports/card-store.js';
import type { Hands } from '../model/ports/hands.js';
import type { Lock, TurnQueue } from '../model/ports/lock.js';
import type { Meter } from '../model/ports/meter.js';
import type { Clock, Log } from '../model/ports/outside.js';
import { refuse } from '../model/refuse.js';
import { inTime } from '../time/in-time.js';
import { pause } from '../time/pause.js';
import { afterLaunch, decideKnown } from './answer-existing.js';
import { knownAnswer, type KnownAnswer } from './existing-meaning.js';
import { findOnceShown } from './find-created.js';
import { readyImage } from './ready-image.js';
import { createOnce, type Again, type Claimed, type TurnJob, type TurnResult } from './serve-batch.js';
import type { Launched, Launches } from './starts.js';
import { takeTurn } from './wait-for-turn.js';

export interface AdmitParts {
  readonly books: Books;
  readonly hands: Hands;
  readonly cardStore: Pick<CardStore, 'remembered'>;
  readonly lock: Lock;
  readonly queue: TurnQueue<TurnJob, TurnResult>;
  readonly launches: Launches;
  readonly clock: Clock;
  readonly meter: Meter;
  readonly log: Log;
  /** Between 0 and 1. */
  readonly random: () => number;
  readonly draining: () => boolean;
  readonly settings: AdmitSettings;
}

export interface AdmitSettings {
  readonly instanceId: string;
  readonly admitWhenBlind: boolean;
  readonly admitTimeoutMs: number;
  readonly startTimeoutMs: number;
  /** How long a request waits for an image that is being pulled. */
  readonly pullWaitMs: number;
  readonly lockThrough: 'claim' | 'start';
}

/** How often one request starts over before it is told to come again. */
const TRIES = 6;

/** Decides one request. `untilMs`, on the monotonic clock, is how long it may wait for the lock or for an earlier container to go. */
export async function admit(
  spec: JobSpec,
  principal: string,
  gone: AbortSignal,
  untilMs: number,
  parts: AdmitParts,
): Promise<Decision> {
  let why: Again['why'] | null = null;
  for (let tries = 0; tries < TRIES; tries++) {
    if (why === 'name_taken') await findOnceShown(spec.runId, parts);
    else if (why !== null) await pause(20 + parts.random() * 50 * 2 ** tries, parts.clock, gone);
    if (parts.draining()) return refuse('draining', { detail: 'this gate is shutting down; ask again in a moment' });
    if (gone.aborted) return { kind: 'client_gone' };

    const known = await lookUp(spec, parts);
    const result = known.kind === 'decide' ? await claim(spec, principal, gone, untilMs, parts) : await goOn(known);
    const decision = await conclude(result);
    if (typeof decision !== 'string') return decision;
    why = decision;
  }
  return outOfTries(spec, why);

  /** A container whose gate may be dead goes through the lock like a new one, unless it holds nothing. */
  async function goOn(found: Exclude<KnownAnswer, { kind: 'decide' }>): Promise<TurnResult> {
    if (found.kind === 'refused') return found;
    if (found.kind !== 'take_up') return { kind: 'known', answer: found };
    if (spec.count > 0) return takeTurn({ spec, principal, gone }, parts, untilMs);
    parts.launches.adopt(found.container.id);
    return claimed(found.container.id);
  }

  /** The decision, or why to start over. */
  async function conclude(result: TurnResult): Promise<Decision | Again['why']> {
    switch (result.kind) {
      case 'claimed':
        return launch(result, spec, parts);
      case 'known':
        return decideKnown(result.answer, spec, parts, untilMs, gone);
      case 'again':
        return result.why;
      case 'decided':
        return result.decision;
      case 'wait':
        return { kind: 'wait', ...result.wait };
      case 'client_gone':
      case 'refused':
        return result;
      default:
        return result satisfies never;
    }
  }
}

async function lookUp(spec: JobSpec, { books, launches }: AdmitParts): Promise<KnownAnswer> {
  const listed = await books.findRun(spec.runId);
  if (listed.kind === 'blind') {
    return refuse('docker_unavailable', { detail: `the runtime could not be asked for this run: ${listed.detail}` });
  }
  return knownAnswer(listed.value, spec, launches.adopted);
}

/** The image, then the lock and a turn; a job without cards holds nothing that others want and needs neither look nor lock. */
async function claim(
  spec: JobSpec,
  principal: string,
  gone: AbortSignal,
  untilMs: number,
  parts: AdmitParts,
): Promise<TurnResult> {
  const decision = await readyImage(spec, parts, parts.settings.pullWaitMs);
  if (decision !== null) return { kind: 'decided', decision };
  if (spec.count > 0) return takeTurn({ spec, principal, gone }, parts, untilMs);
  if (gone.aborted) return { kind: 'client_gone' };
  const grant: Grant = {
    cards: [],
    admittedBy: parts.settings.instanceId,
    admittedAt: new Date(parts.clock.now()).toISOString(),
    principal,
  };
  const made = await createOnce(spec, grant, parts);
  if (made.kind !== 'created') return made;
  parts.launches.adopt(made.id);
  return claimed(made.id);
}

function claimed(containerId: string): Claimed {
  return { kind: 'claimed', containerId, cards: [], placement: null, admittedBlind: false };
}

/** Starts what was claimed, and answers when it runs, when it failed, or when it takes too long. */
async function launch(made: Claimed, spec: JobSpec, parts: AdmitParts): Promise<Decision | 'gone'> {
  const { cards, placement, admittedBlind, containerId } = made;
  const run = { name: containerName(spec.runId), containerId, state: 'created', exitCode: null } as const;
  const answer = { run, cards, placement, admittedBlind };
  const end = made.launched ?? parts.launches.begin(made, spec);
  const launched = await inTime(end, parts.settings.startTimeoutMs, parts.clock);
  if (launched === null) {
    void end.then((late) => rememberLate(late, made, spec, parts));
    parts.meter.granted(spec.count);
    return { kind: 'starting', ...answer };
  }
  if (launched.value.kind === 'running') parts.meter.granted(spec.count);
  return afterLaunch(launched.value, answer, false);
}

/** The caller was told `starting`: how it ended can be asked for an hour. */
function rememberLate(late: Launched, made: Claimed, spec: JobSpec, { clock, log, launches }: AdmitParts): void {
  if (late.kind !== 'refused') return;
  log.warn({ run_id: spec.runId, code: late.code, daemon_message: late.daemonMessage }, 'a slow start failed');
  launches.rememberFailure({
    runId: spec.runId,
    state: 'start_failed',
    cards: made.cards.map(({ index, uuid }) => ({ index, uuid })),
    exitCode: null,
    oomKilled: null,
    error: late.daemonMessage ?? late.detail,
    createdAt: null,
    startedAt: null,
    finishedAt: new Date(clock.now()).toISOString(),
  });
}

/** What a request is told that started over too often. */
function outOfTries(spec: JobSpec, why: Again['why'] | null): Decision {
  switch (why) {
    case 'lease_lost':
      return refuse('lock_unavailable', { detail: 'the lock was lost again and again before anything was created' });
    case 'name_taken':
      return refuse('create_failed', {
        detail: `the name ${containerName(spec.runId)} is taken, and no list shows by what`,
        // It may be what an earlier request for this run created, whose answer never came.
        rolledBack: false,
      });
    case 'gone':
      return refuse('create_failed', {
        detail: 'each container that was created was gone again from the list after it; nothing was started',
        rolledBack: true,
      });
    case 'image_gone':
      return refuse('image_not_found', {
        detail: `somebody removes the image ${spec.container.image} again and again before a container can be created from it`,
      });
    case 'lost_race':
    case null:
      return {
        kind: 'wait',
        requested: spec.count,
        free: 0,
        retryAfterSeconds: 1,
        explain: 'another claim was made on the same cards at the same time, and both yielded; ask again in a second',
        reasons: [{ code: 'lost_race', cards: [] }],
      };
    default:
      return why satisfies never;
  }
}
