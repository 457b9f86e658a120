/** What a container of this run means for a request: one row of the design's table each. Pure. */

import type { GrantedCard, JobRequest, Refusal, Running } from '../model/admission.js';
import { type CardIndex, type CardUuid, cardIndex, cardUuid } from '../model/card.js';
import { LABEL } from '../model/labels.js';
import { refuse } from '../model/refuse.js';
import type { RememberedCard, SeenContainer } from '../model/snapshot.js';
import { knownRun } from './existing-run.js';

export type KnownAnswer =
  /** Nothing of this run is there: decide. */
  | { readonly kind: 'decide' }
  | { readonly kind: 'alive'; readonly container: SeenContainer }
  | { readonly kind: 'ended'; readonly container: SeenContainer }
  /** On its way out: wait until it is gone. */
  | { readonly kind: 'removing'; readonly container: SeenContainer }
  /** Created, and its start is under way in this process. */
  | { readonly kind: 'starting'; readonly container: SeenContainer }
  /** Created by a gate that may be dead: verify its cards and start it, or remove it. */
  | { readonly kind: 'take_up'; readonly container: SeenContainer }
  | Refusal;

/** `underWay` says whether the start of a container is under way in this process. */
export function knownAnswer(
  containers: readonly SeenContainer[],
  request: JobRequest,
  underWay: (id: string) => boolean,
): KnownAnswer {
  const known = knownRun(containers, request.runId);
  if (known.kind === 'none') return { kind: 'decide' };
  const { container } = known;
  if (known.kind === 'stranger') {
    return refuse('create_failed', {
      detail: `the name ${container.name} is taken by container ${short(container.id)}, which is not this run; rename or remove it`,
      rolledBack: true,
    });
  }
  if (known.kind === 'ours' && known.specSha256 !== request.specSha256) {
    return refuse('run_id_reused', {
      detail: `run_id ${request.runId} belongs to another request (container ${short(container.id)}, ${container.state}); use a new run_id, or DELETE the run once it has ended`,
    });
  }
  switch (container.state) {
    case 'running':
    case 'paused':
    case 'restarting':
      return { kind: 'alive', container };
    case 'exited':
    case 'dead':
      return { kind: 'ended', container };
    case 'removing':
      return { kind: 'removing', container };
    case 'created':
      if (known.kind === 'older') return { kind: 'alive', container };
      return underWay(container.id) ? { kind: 'starting', container } : { kind: 'take_up', container };
    default:
      return container.state satisfies never;
  }
}

/** The parts of an answer that a container itself tells. Exit code to be asked apart. */
export function runningAnswer(
  container: SeenContainer,
  remembered: readonly RememberedCard[],
  exitCode: number | null = null,
): Running {
  return {
    run: { name: container.name, containerId: container.id, state: container.state, exitCode },
    cards: cardsOf(container, remembered),
    placement: null,
    admittedBlind: false,
  };
}

/** The cards that a container's labels name, index and uuid beside each other where both lists agree in length. */
export function cardsOf(container: SeenContainer, remembered: readonly RememberedCard[]): readonly GrantedCard[] {
  const indices = readIndices(container.labels[LABEL.gpus]);
  const uuids = readUuids(container.labels[LABEL.gpuUuids]);
  const name = (uuid: CardUuid | null): string | null => remembered.find((card) => card.uuid === uuid)?.name ?? null;
  if (uuids.length === 0) {
    return indices.map((index) => {
      const uuid = remembered.find((card) => card.index === index)?.uuid ?? null;
      return { index, uuid, name: name(uuid) };
    });
  }
  return uuids.map((uuid, at) => ({
    index: (indices.length === uuids.length ? indices[at] : undefined) ?? null,
    uuid,
    name: name(uuid),
  }));
}

function readIndices(text: string | undefined): CardIndex[] {
  return split(text)
    .filter((part) => /^\d{1,4}$/.test(part))
    .map((part) => cardIndex(Number(part)));
}

function readUuids(text: string | undefined): CardUuid[] {
  return split(text).map((part) => cardUuid(part));
}

function split(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

const short = (id: string): string => id.slice(0, 12);
