/** What must never be, and what the watch knows of a history; no gate can see as much. */

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
  'a request was never answered',
  'something was thrown',
] as const;
export type OffenceKind = (typeof OFFENCES)[number];

export interface Offence {
  readonly kind: OffenceKind;
  readonly detail: string;
}

/** One request as a gate has it. */
export interface Ask {
  readonly post: Post;
  readonly life: Life;
  /** Its caller has hung up, and the gate has been told. */
  gone: boolean;
  answer: Decision | null;
  /** The containers that were created for it. */
  readonly made: ModelContainer[];
}

/** Who created a container, when, and for which request; a container that somebody else put there has none. */
export interface Maker {
  readonly by: string;
  readonly at: number;
  readonly ask: Ask | null;
}

export interface Facts {
  readonly asks: Ask[];
  readonly makers: Map<string, Maker>;
  /** Every container that ever was. */
  readonly ever: Map<string, ModelContainer>;
  /** What a life was last told of a container, and in which step, by `life id`. */
  readonly told: Map<string, { readonly state: ToldState; readonly step: number }>;
  /** What a life was told when it asked closely: that this one runs or has run, by `life id`. */
  readonly ran: Set<string>;
  /** What a life was told by an event: that this one was started, or has ended, by `life id`. */
  readonly heard: Set<string>;
  /** The runs of which a life removed a container that it had heard of by then; by `life run`. */
  readonly removedRuns: Set<string>;
  readonly isThere: (id: string) => boolean;
  readonly offend: (kind: OffenceKind, detail: string) => void;
}

/** Whether a state says that the job has run, or runs. */
export function hasRun(state: ToldState | undefined): boolean {
  return state === 'running' || state === 'exited' || state === 'has run';
}

export function runOf(container: ModelContainer): string {
  return container.labels[LABEL.runId] ?? '';
}
