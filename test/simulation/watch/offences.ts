/** What must never happen, and what the watch knows of a history, which is more than any gate can see. */

import type { Decision } from '../../../src/model/admission.js';
import { LABEL } from '../../../src/model/labels.js';
import type { ToldState } from '../engine/client.js';
import type { ModelContainer } from '../engine/store.js';
import type { Post } from '../history/plan.js';
import type { Life } from '../process/life.js';

export const OFFENCES = [
  'two run on one card',
  'an id was started twice',
  'a run was executed twice',
  "another's container was started",
  "a living gate's claim was removed",
  'what was known to have run was started',
  'what was known to have run was removed',
  'a removal without a look right before it',
  'what its events told had run was created again',
  'a container was created for nobody',
  'an answer names what never was',
  'an answer says that nothing is left, and something is',
  'a refusal hides a run',
  'a card is lost',
  'overtaking',
  'a request was never answered',
  'something was thrown',
] as const;
export type OffenceKind = (typeof OFFENCES)[number];

export interface Offence {
  readonly kind: OffenceKind;
  readonly detail: string;
}

/** One request in a gate. */
export interface Ask {
  readonly post: Post;
  readonly life: Life;
  /** Its caller has hung up, and the gate knows. */
  gone: boolean;
  answer: Decision | null;
  /** The containers that were created for it. */
  readonly made: ModelContainer[];
}

/** Who created a container, when, and for which request; null for one that no gate created. */
export interface Maker {
  readonly by: string;
  readonly at: number;
  readonly ask: Ask | null;
}

export interface Facts {
  readonly asks: Ask[];
  readonly makers: Map<string, Maker>;
  /** Every container that ever existed. */
  readonly ever: Map<string, ModelContainer>;
  /** The last state of a container that a life was told, and in which step, by `life id`. */
  readonly told: Map<string, { readonly state: ToldState; readonly step: number }>;
  /** What a life learned when it asked specifically: that this one runs or has run, by `life id`. */
  readonly ran: Set<string>;
  /** What a life learned by an event: that this one was started, or has ended, by `life id`. */
  readonly heard: Set<string>;
  /** The runs whose container a life removed after learning that it had run; by `life run`. */
  readonly removedRuns: Set<string>;
  readonly isThere: (id: string) => boolean;
  readonly offend: (kind: OffenceKind, detail: string) => void;
}

/** Whether a state means that the job has run, or runs. */
export function hasRun(state: ToldState | undefined): boolean {
  return state === 'running' || state === 'exited' || state === 'has run';
}

export function runOf(container: ModelContainer): string {
  return container.labels[LABEL.runId] ?? '';
}
