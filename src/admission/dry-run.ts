/** What a request would get now. Takes no lock, pulls and changes nothing. */

import type { LineRules } from '../line/walk.js';
import type { Decision, JobSpec, WaitPlace } from '../model/admission.js';
import type { CardStore } from '../model/ports/card-store.js';
import type { Observer } from '../model/ports/eyes.js';
import type { Line } from '../model/ports/line.js';
import { refuse } from '../model/refuse.js';
import { runningAnswer } from './existing/existing-answers.js';
import type { Existing } from './existing/existing-meaning.js';
import { lookUp, type LookUpParts } from './existing/look-up.js';
import { planBatch } from './plan.js';

export interface DryRunParts extends LookUpParts {
  readonly observer: Pick<Observer, 'fresh'>;
  readonly cardStore: Pick<CardStore, 'remembered'>;
  readonly line: Pick<Line, 'places' | 'place'>;
  readonly settings: LineRules;
}

/** `would_replay` where an existing container of the run would answer instead of a new one, even if it has ended. */
export async function dryRun(spec: JobSpec, parts: DryRunParts): Promise<Decision> {
  const existing = await lookUp(spec, parts);
  if (existing !== null && existing.kind !== 'left_behind') return replay(existing, parts);
  if (spec.count === 0) return { kind: 'would_admit', cards: [], placement: null, admittedBlind: false };

  const { snapshot, occupancy } = await parts.observer.fresh();
  if (snapshot.docker.kind === 'blind') {
    return refuse('docker_unavailable', { detail: `the containers could not be listed: ${snapshot.docker.detail}` });
  }
  const [plan] = planBatch([{ spec, existing: null }], parts.line.places(), occupancy, parts.settings);
  switch (plan?.kind) {
    case 'create':
      return { ...plan, kind: 'would_admit' };
    case 'wait':
      return { ...plan, kind: 'would_wait', place: placeOf(spec, parts.line) };
    case 'refused':
      return plan;
    case 'fault':
      throw plan.error;
    case 'existing':
    case undefined:
      throw new Error('a request without an existing container must have a plan');
    default:
      return plan satisfies never;
  }
}

/** The run's place in line, or the one that it would get: behind all that wait now. */
function placeOf({ runId }: JobSpec, line: Pick<Line, 'places' | 'place'>): WaitPlace {
  const { position, waitedMs } = line.place(runId) ?? { position: line.places().length + 1, waitedMs: 0 };
  return { position, waitedMs };
}

function replay(existing: Existing, { cardStore }: DryRunParts): Decision {
  if (existing.kind === 'refused') return existing;
  const remembered = cardStore.remembered();
  if (existing.kind !== 'has_run') return { kind: 'would_replay', ...runningAnswer(existing.container, remembered) };
  const { container, exitCode } = existing.run;
  return { kind: 'would_replay', ...runningAnswer({ ...container, state: 'exited' }, remembered, exitCode) };
}
