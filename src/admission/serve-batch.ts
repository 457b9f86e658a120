/**
 * What happens while the lock is held: look once, plan everybody in line, create, list again. The claim protocol's steps 3 to 7.
 * Nothing here trusts the lock: a created container is in everybody's books, and whoever finds another on its cards yields.
 */

import type { Decision, Grant, JobSpec, Refusal, Running, Wait } from '../model/admission.js';
import type { Occupancy } from '../model/occupancy.js';
import type { Books } from '../model/ports/books.js';
import type { Observer, Observation } from '../model/ports/eyes.js';
import type { Hands } from '../model/ports/hands.js';
import type { Hold } from '../model/ports/lock.js';
import type { Meter } from '../model/ports/meter.js';
import type { Clock, Log } from '../model/ports/outside.js';
import { refuse } from '../model/refuse.js';
import type { SeenContainer } from '../model/snapshot.js';
import type { KnownAnswer } from './existing-meaning.js';
import { findAfterDoubt } from './find-created.js';
import { cardsHeldBy, hasRival, planBatch, type Plan } from './plan.js';
import type { Launched, Launches } from './starts.js';

/** One request in line. */
export interface TurnJob {
  readonly spec: JobSpec;
  readonly principal: string;
  /** Aborted when the caller hung up: before its container is created it is dropped. */
  readonly gone: AbortSignal;
  /** Gives the result before the turn is over, where the lock is kept longer than the caller should wait. */
  readonly early: (result: TurnResult) => void;
}

/** A container that is created, and alone on its cards. */
export interface Claimed extends Omit<Running, 'run'> {
  readonly kind: 'claimed';
  readonly containerId: string;
  /** Set where its start was begun under the lock. */
  readonly launched?: Promise<Launched>;
}

/** Start over; `lost_race` when another claim was on its cards. */
export interface Again {
  readonly kind: 'again';
  readonly why: 'lost_race' | 'lease_lost' | 'name_taken' | 'image_gone' | 'gone';
}

/** What a turn made of a request. */
export type TurnResult =
  /** The container is created, alone on its cards, and may be started by its id. */
  | Claimed
  | { readonly kind: 'known'; readonly answer: Exclude<KnownAnswer, { kind: 'decide' | 'take_up' } | Refusal> }
  | { readonly kind: 'wait'; readonly wait: Wait }
  | Again
  /** Decided before the turn came. */
  | { readonly kind: 'decided'; readonly decision: Decision }
  | { readonly kind: 'client_gone' }
  | Refusal;

export interface TurnParts {
  readonly observer: Observer;
  readonly books: Books;
  readonly hands: Hands;
  readonly clock: Clock;
  readonly meter: Pick<Meter, 'phase' | 'claimRace'>;
  readonly log: Log;
  readonly instanceId: string;
  readonly admitWhenBlind: boolean;
  /** Told of each container that this turn is responsible for, so that no sweep here touches it. */
  readonly launches: Pick<Launches, 'adopt' | 'drop' | 'adopted'>;
}

/** Serves one batch under one hold of the lock; one result for each job, in order. */
export async function serveTurn(
  jobs: readonly TurnJob[],
  hold: Hold,
  parts: TurnParts,
): Promise<readonly TurnResult[]> {
  const began = parts.clock.monotonic();
  const observation = await parts.observer.fresh();
  parts.meter.phase('look', (parts.clock.monotonic() - began) / 1000);
  const { snapshot, occupancy } = observation;
  if (snapshot.docker.kind === 'blind') {
    const { detail } = snapshot.docker;
    return jobs.map(() => refuse('docker_unavailable', { detail: `the containers could not be listed: ${detail}` }));
  }
  const specs = jobs.map((job) => job.spec);
  const plans = planBatch(specs, occupancy, snapshot.docker.value.containers, {
    admitWhenBlind: parts.admitWhenBlind,
    underWay: parts.launches.adopted,
  });
  const acts = plans.some(
    (plan) => plan.kind === 'create' || plan.kind === 'go_on' || plan.kind === 'remove_and_retry',
  );
  if (acts && !(await hold.confirm())) {
    return plans.map((plan) => withoutActing(plan) ?? { kind: 'again', why: 'lease_lost' });
  }
  const claimBegan = parts.clock.monotonic();
  const created = await Promise.all(plans.map((plan, at) => act(plan, jobs[at]!, parts, occupancy)));
  const results = await verify(created, observation, parts);
  if (acts) parts.meter.phase('claim', (parts.clock.monotonic() - claimBegan) / 1000);
  return results;
}

/** The result of a plan that touches nothing; null for one that would. */
function withoutActing(plan: Plan): TurnResult | null {
  switch (plan.kind) {
    case 'known':
    case 'wait':
    case 'refused':
      return plan;
    case 'create':
    case 'go_on':
    case 'remove_and_retry':
      return null;
    default:
      return plan satisfies never;
  }
}

async function act(plan: Plan, job: TurnJob, parts: TurnParts, occupancy: Occupancy): Promise<TurnResult> {
  switch (plan.kind) {
    case 'create':
      return job.gone.aborted ? { kind: 'client_gone' } : create(plan, job, parts);
    case 'go_on': {
      if (job.gone.aborted) return { kind: 'client_gone' };
      const { container } = plan;
      parts.launches.adopt(container.id);
      const cards = cardsHeldBy(container.id, occupancy).map(({ index, uuid, name }) => ({ index, uuid, name }));
      parts.log.info(
        { run_id: job.spec.runId, container_id: container.id },
        'taking up a container whose gate never started it',
      );
      return { kind: 'claimed', containerId: container.id, cards, placement: null, admittedBlind: false };
    }
    case 'remove_and_retry':
      await parts.hands.remove(plan.container.id);
      return { kind: 'again', why: 'gone' };
    case 'known':
    case 'wait':
    case 'refused':
      return plan;
    default:
      return plan satisfies never;
  }
}

async function create(plan: Plan & { kind: 'create' }, job: TurnJob, parts: TurnParts): Promise<TurnResult> {
  const { cards, placement, admittedBlind } = plan;
  const grant: Grant = {
    cards,
    admittedBy: parts.instanceId,
    admittedAt: new Date(parts.clock.now()).toISOString(),
    principal: job.principal,
  };
  const made = await createOnce(job.spec, grant, parts);
  if (made.kind !== 'created') return made;
  parts.launches.adopt(made.id);
  return { kind: 'claimed', containerId: made.id, cards, placement, admittedBlind };
}

/**
 * One create, and whatever it answered turned into what to do next. An answer that did not come, or a 5xx, is settled by the
 * books: a create that was given up on may have happened all the same.
 */
export async function createOnce(
  spec: JobSpec,
  grant: Grant,
  parts: Pick<TurnParts, 'hands' | 'books' | 'clock'>,
): Promise<{ readonly kind: 'created'; readonly id: string } | Again | Refusal> {
  const answer = await parts.hands.create(spec, grant);
  switch (answer.kind) {
    case 'created':
      return answer;
    case 'name_taken':
      return { kind: 'again', why: 'name_taken' };
    case 'image_gone':
      return { kind: 'again', why: 'image_gone' };
    case 'refused':
      return refuse('container_refused', {
        detail: 'the runtime refuses this container',
        daemonMessage: answer.daemonMessage,
        rolledBack: true,
      });
    case 'failed':
    case 'in_doubt': {
      const found = await findAfterDoubt(spec, grant, parts, answer.kind === 'failed' ? 0 : undefined);
      if (found.kind === 'blind') {
        return refuse('docker_unavailable', {
          detail: `the runtime did not say whether the container was created: ${found.detail}; ask again with the same run_id`,
        });
      }
      if (found.kind === 'found') return { kind: 'created', id: found.container.id };
      return refuse('create_failed', {
        detail: 'the runtime failed to create the container',
        daemonMessage: answer.kind === 'failed' ? answer.daemonMessage : answer.detail,
        rolledBack: answer.kind === 'failed',
      });
    }
    default:
      return answer satisfies never;
  }
}

/** Step 7: one list for all that were created; whoever finds another claim on its cards removes its own and starts over. */
async function verify(
  results: readonly TurnResult[],
  { snapshot }: Observation,
  parts: TurnParts,
): Promise<readonly TurnResult[]> {
  if (!results.some((result) => result.kind === 'claimed')) return results;
  const docker = await parts.books.list();
  if (docker.kind === 'blind') {
    const detail = `the containers could not be listed again after the create, so nothing was started: ${docker.detail}`;
    return Promise.all(
      results.map(async (result) => (result.kind === 'claimed' ? giveUp(result, detail, parts) : result)),
    );
  }
  const occupancy = parts.observer.rejudge({ ...snapshot, docker });
  const { containers } = docker.value;
  return Promise.all(results.map((result) => settle(result, occupancy, containers, parts)));
}

async function settle(
  result: TurnResult,
  occupancy: Occupancy,
  containers: readonly SeenContainer[],
  parts: TurnParts,
): Promise<TurnResult> {
  if (result.kind !== 'claimed') return result;
  const own = containers.find((container) => container.id === result.containerId);
  if (!own) {
    // Removed by somebody; or the list shows not everything, and what is not in the books is not started.
    const refusal = await giveUp(result, 'a list does not show what was created, and it was not started', parts);
    return refusal.rolledBack === true ? { kind: 'again', why: 'gone' } : refusal;
  }
  if (!hasRival(own.id, result.cards, occupancy)) return result;
  parts.meter.claimRace();
  const removed = await parts.hands.remove(own.id);
  parts.launches.drop(own.id);
  if (removed.kind === 'running')
    return { kind: 'known', answer: { kind: 'alive', container: { ...own, state: 'running' } } };
  return { kind: 'again', why: 'lost_race' };
}

async function giveUp(claimed: Claimed, detail: string, parts: TurnParts): Promise<Refusal> {
  const removed = await parts.hands.remove(claimed.containerId);
  parts.launches.drop(claimed.containerId);
  return refuse('docker_unavailable', {
    detail,
    rolledBack: removed.kind === 'removed' || removed.kind === 'gone',
  });
}
