/** What would be decided now. Takes no lock, pulls and changes nothing. */

import type { Decision, JobSpec } from '../model/admission.js';
import type { Books } from '../model/ports/books.js';
import type { CardStore } from '../model/ports/card-store.js';
import type { Observer } from '../model/ports/eyes.js';
import { refuse } from '../model/refuse.js';
import { knownAnswer, runningAnswer } from './existing-meaning.js';
import { planBatch } from './plan.js';
import type { Launches } from './starts.js';

export interface DryRunParts {
  readonly books: Books;
  readonly observer: Observer;
  readonly cardStore: Pick<CardStore, 'remembered'>;
  readonly launches: Pick<Launches, 'adopted'>;
  readonly admitWhenBlind: boolean;
}

/** `would_replay` for any container of this run that would answer instead of a new one, an ended one included. */
export async function dryRun(spec: JobSpec, parts: DryRunParts): Promise<Decision> {
  const listed = await parts.books.findRun(spec.runId);
  if (listed.kind === 'blind') {
    return refuse('docker_unavailable', { detail: `the runtime could not be asked for this run: ${listed.detail}` });
  }
  const { adopted } = parts.launches;
  const known = knownAnswer(listed.value, spec, adopted);
  if (known.kind === 'refused') return known;
  if (known.kind !== 'decide')
    return { kind: 'would_replay', ...runningAnswer(known.container, parts.cardStore.remembered()) };
  if (spec.count === 0) return { kind: 'would_admit', cards: [], placement: null, admittedBlind: false };

  const { snapshot, occupancy } = await parts.observer.fresh();
  if (snapshot.docker.kind === 'blind') {
    return refuse('docker_unavailable', { detail: `the containers could not be listed: ${snapshot.docker.detail}` });
  }
  const { containers } = snapshot.docker.value;
  const [plan] = planBatch([spec], occupancy, containers, { admitWhenBlind: parts.admitWhenBlind, underWay: adopted });
  switch (plan?.kind) {
    case 'create':
      return { ...plan, kind: 'would_admit' };
    case 'wait':
      return { kind: 'would_wait', ...plan.wait };
    case 'refused':
      return plan;
    case 'go_on':
    case 'remove_and_retry':
      return { kind: 'would_replay', ...runningAnswer(plan.container, parts.cardStore.remembered()) };
    case 'known':
      return { kind: 'would_replay', ...runningAnswer(plan.answer.container, parts.cardStore.remembered()) };
    case undefined:
      throw new Error('a batch of one has one plan');
    default:
      return plan satisfies never;
  }
}
