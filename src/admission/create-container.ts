/** Creates the container of a run. From its create on, every gate that lists containers counts its cards as held. */

import type { Grant, JobSpec, Refusal } from '../model/admission.js';
import type { Hands } from '../model/ports/hands.js';
import { refuse } from '../model/refuse.js';
import type { Again } from './admission.js';
import { findCreated, type FindParts } from './existing/find-created.js';
import { takeBack } from './take-back.js';

export interface CreateParts extends FindParts {
  readonly hands: Pick<Hands, 'create' | 'compare' | 'remove'>;
}

export type Created = { readonly kind: 'created'; readonly id: string } | Again | Refusal;

/**
 * Sends one create and turns any answer into the next action. No answer, or a 5xx, is settled by a list: a create that timed
 * out here may have succeeded all the same.
 */
export async function createContainer(spec: JobSpec, grant: Grant, parts: CreateParts): Promise<Created> {
  const created = await create(spec, grant, parts);
  return created.kind === 'created' ? compare(created.id, spec, grant, parts) : created;
}

/** A container that differs from its request is never started: its job would run without its cards. */
async function compare(id: string, spec: JobSpec, grant: Grant, { hands }: CreateParts): Promise<Created> {
  const stored = await hands.compare(id, spec, grant);
  if (stored.kind === 'as_asked') return { kind: 'created', id };
  if (stored.kind === 'gone') return { kind: 'again', why: 'gone' };
  const taken = await takeBack(id, hands);
  if (taken.kind === 'runs' || taken.kind === 'look_again') return { kind: 'again', why: 'changed' };
  const rolledBack = taken.kind === 'taken_back';
  if (stored.kind === 'lacks') return refuse('container_refused', { detail: stored.detail, rolledBack });
  const detail = `the runtime did not say whether the container is as it was asked for, so it was not started: ${stored.detail}`;
  return refuse('docker_unavailable', { detail, rolledBack });
}

async function create(spec: JobSpec, grant: Grant, parts: CreateParts): Promise<Created> {
  const answer = await parts.hands.create(spec, grant);
  switch (answer.kind) {
    case 'created':
      return answer;
    case 'name_taken':
    case 'image_gone':
      return { kind: 'again', why: answer.kind };
    case 'refused':
      return refuse('container_refused', {
        detail: 'the runtime refuses this container',
        daemonMessage: answer.daemonMessage,
        rolledBack: true,
      });
    case 'failed':
      return settle(spec, grant, parts, answer.daemonMessage, 0);
    case 'in_doubt':
      return settle(spec, grant, parts, answer.detail);
    default:
      return answer satisfies never;
  }
}

/**
 * `withinMs` 0: the runtime did answer, so anything it created is visible at once, and if nothing is visible nothing was
 * created.
 */
async function settle(
  spec: JobSpec,
  grant: Grant,
  parts: CreateParts,
  daemonMessage: string,
  withinMs?: 0,
): Promise<Created> {
  const found = await findCreated(spec, grant, parts, withinMs);
  switch (found.kind) {
    case 'found':
      return { kind: 'created', id: found.container.id };
    case 'blind':
      return refuse('docker_unavailable', {
        detail: `the runtime did not say whether the container was created: ${found.detail}; ask again with the same run_id`,
      });
    case 'nothing':
      return refuse('create_failed', {
        detail: 'the runtime failed to create the container',
        daemonMessage,
        rolledBack: withinMs === 0,
      });
    default:
      return found satisfies never;
  }
}
