/** A container as a run, and who may do something to it. */

import { existingRun } from '../admission/existing/existing-run.js';
import type { RecentRuns } from '../admission/existing/recent-runs.js';
import type { Principal, Refusal, Run } from '../model/admission.js';
import { cardsOf } from '../model/container-cards.js';
import { LABEL, ownLabels } from '../model/labels.js';
import type { Place } from '../model/line.js';
import type { Books } from '../model/ports/books.js';
import type { CardStore } from '../model/ports/card-store.js';
import type { Hands } from '../model/ports/hands.js';
import type { Line } from '../model/ports/line.js';
import type { Clock } from '../model/ports/outside.js';
import { refuse } from '../model/refuse.js';
import type { SeenContainer } from '../model/snapshot.js';
import { exitWords } from './exit-words.js';

export interface RunsParts {
  readonly books: Books;
  readonly hands: Pick<Hands, 'remove' | 'giveUp' | 'stop'>;
  readonly cardStore: Pick<CardStore, 'remembered'>;
  readonly recentRuns: Pick<RecentRuns, 'get' | 'all' | 'forget'>;
  readonly line: Pick<Line, 'place' | 'places' | 'takeAway'>;
  readonly starting: Starting;
  readonly clock: Clock;
}

/** What this gate is creating or starting. */
export interface Starting {
  /** Settles when the attempt at this run has ended; null where there is none. */
  of(runId: string): Promise<unknown> | null;
  /** Whether this gate created it, in this life or an earlier one. */
  isOwn(container: SeenContainer): boolean;
}

/** One's own, or any for an operator. What nobody is named for is an operator's alone. */
export function mayTouch(owner: string | null | undefined, by: Principal): boolean {
  return by.roles.includes('operate') || (Boolean(owner) && owner === by.name);
}

export function containerOf(containers: readonly SeenContainer[], runId: string): SeenContainer | null {
  const existing = existingRun(containers, runId);
  return existing.kind === 'none' || existing.kind === 'stranger' ? null : existing.container;
}

export async function runOf(container: SeenContainer, { books, cardStore }: RunsParts): Promise<Run> {
  const described = await books.describe(container);
  const details = described.kind === 'seen' ? described.value : null;
  return {
    runId: container.labels[LABEL.runId] || container.name,
    state: container.state,
    principal: container.labels[LABEL.principal] || null,
    labels: ownLabels(container.labels),
    image: details?.image ?? container.image ?? null,
    command: container.command ?? null,
    cards: cardsOf(container, cardStore.remembered()).map(({ index, uuid }) => ({ index, uuid })),
    exitCode: details?.exitCode ?? null,
    oomKilled: details?.oomKilled ?? null,
    error: details?.error ?? exitWords(details?.exitCode ?? null, details?.oomKilled ?? null),
    createdAt: new Date(container.createdAtMs).toISOString(),
    startedAt: details?.startedAt ?? null,
    finishedAt: details?.finishedAt ?? null,
  };
}

/** A run that waits for cards, and is nowhere but in line. */
export function waitingRun(place: Place, position: number): Run {
  return {
    runId: place.runId,
    state: 'waiting',
    position,
    principal: place.principal,
    labels: place.labels,
    image: place.image === '' ? null : place.image,
    command: null,
    cards: [],
    exitCode: null,
    oomKilled: null,
    error: null,
    createdAt: place.since,
    startedAt: null,
    finishedAt: null,
  };
}

export function notAsked(detail: string): Refusal {
  return refuse('docker_unavailable', { detail: `the runtime could not be asked for this run: ${detail}` });
}

/** `what`: what it did not say, in words that go on from "whether". */
export function notTold(what: string): Refusal {
  return refuse('docker_unavailable', { detail: `the runtime did not say whether ${what}` });
}
