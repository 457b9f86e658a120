/** Which jobs hold which cards, by the labels on their containers. */

import type { CardIndex } from '../model/card.js';
import { cut, LONGEST_NAME, someOf } from '../model/cut.js';
import { LABEL } from '../model/labels.js';
import { cardsNamed, cardWithIndex } from '../model/named-card.js';
import type { Claim } from '../model/occupancy.js';
import { holds, type ContainersSeen, type Probed, type SeenContainer } from '../model/snapshot.js';
import type { KnownCard } from './known-cards.js';

const LONGEST_VALUE = 500;
const MOST_LABELS = 64;

/** The claims on the cards of this machine, and notes about claims on other cards. */
export interface Claims {
  /** Oldest first. An unclaimed card is not in it. */
  readonly byCard: ReadonlyMap<KnownCard, readonly Claim[]>;
  readonly notes: readonly string[];
}

/**
 * Live claims by card. A uuid holds that card wherever it is today, and never another card in its place; an index holds the
 * card that has it today. If the containers could not be listed, there are no claims here: the judge knows that.
 */
export function readClaims(docker: Probed<ContainersSeen>, cards: readonly KnownCard[]): Claims {
  const byCard = new Map<KnownCard, Claim[]>();
  const notes: string[] = [];
  for (const container of oldestFirst(docker)) {
    if (container.claim === null || !holds(container.state)) continue;
    const claim = claimOf(container);
    const { held, unplaced, guessed } = placeClaim(container, cards);
    for (const card of held) byCard.set(card, [...(byCard.get(card) ?? []), claim]);
    const who = `container ${cut(container.name, LONGEST_NAME)} (${container.state})`;
    if (unplaced.length > 0) notes.push(`${who} claims ${someOf(unplaced)}, which is not here`);
    if (guessed.length > 0) {
      notes.push(
        `${who} counts as holding cards ${guessed.join(',')} by its label, since the driver shows no uuids now`,
      );
    }
    if (container.claim.unread.length > 0) {
      notes.push(`the claim of ${who} cannot be read in full: ${someOf(container.claim.unread.map(quoted))}`);
    }
  }
  return { byCard, notes };
}

function placeClaim(container: SeenContainer, cards: readonly KnownCard[]) {
  // A set: a container that names a card twice holds it once.
  const held = new Set<KnownCard>();
  const unplaced: string[] = [];
  const guessed: number[] = [];
  const { uuids = [], indices = [], indicesBeside } = container.claim ?? {};
  for (const [at, uuid] of uuids.entries()) {
    const named = cardsNamed(cards, uuid);
    const standIn = named.length === 0 ? unnamedCard(indicesBeside?.[at] ?? null, cards) : undefined;
    for (const card of named) held.add(card);
    if (standIn !== undefined) {
      held.add(standIn);
      guessed.push(Number(standIn.index));
    } else if (named.length === 0) unplaced.push(uuid);
  }
  for (const index of indices) {
    const card = cardWithIndex(cards, index);
    if (card === undefined) unplaced.push(`card ${index}`);
    else held.add(card);
  }
  return { held, unplaced, guessed };
}

/**
 * After a restart with a blind driver and no memory of the cards, the configured ones have no uuid yet. The index beside the
 * uuid in the claim is then the best evidence; without it a held card would look unclaimed.
 */
function unnamedCard(index: CardIndex | null, cards: readonly KnownCard[]): KnownCard | undefined {
  const card = index === null ? undefined : cardWithIndex(cards, index);
  return card?.uuid === null && card.evidence.kind === 'unseen' ? card : undefined;
}

function claimOf(container: SeenContainer): Claim {
  const runId = container.labels[LABEL.runId];
  const name = cut(container.name, LONGEST_NAME);
  const principal = container.labels[LABEL.principal];
  return {
    runId: runId === undefined || runId === '' ? name : cut(runId, LONGEST_NAME),
    container: name,
    containerId: container.id,
    state: container.state,
    createdAtMs: container.createdAtMs,
    principal: principal === undefined ? null : cut(principal, LONGEST_NAME),
    labels: labelsShown(container.labels),
    image: shownText(container.image),
    command: shownText(container.command),
  };
}

function shownText(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : cut(text, LONGEST_VALUE);
}

/**
 * The job's own labels, limited to what an answer about all cards can contain: a label may have a megabyte, and a container
 * thousands of labels.
 */
function labelsShown(labels: Readonly<Record<string, string>>): Record<string, string> {
  const own = Object.entries(labels).filter(([key]) => !key.startsWith('tuneplane.'));
  return Object.fromEntries(
    own.slice(0, MOST_LABELS).map(([key, value]) => [cut(key, LONGEST_NAME), cut(value, LONGEST_VALUE)]),
  );
}

/** In order of creation, so that claims and notes do not depend on the order of Docker's list. */
function oldestFirst(docker: Probed<ContainersSeen>): readonly SeenContainer[] {
  if (docker.kind === 'blind') return [];
  return docker.value.containers.toSorted((a, b) => a.createdAtMs - b.createdAtMs || a.id.localeCompare(b.id));
}

const quoted = (text: string): string => JSON.stringify(cut(text, LONGEST_NAME));
