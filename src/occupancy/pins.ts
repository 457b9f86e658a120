/** Which cards containers other than jobs were given by id. */

import { cut, LONGEST_NAME, someOf } from '../model/cut.js';
import { cardsNamed } from '../model/named-card.js';
import type { ContainersSeen, Probed, SeenContainer } from '../model/snapshot.js';
import type { KnownCard } from './known-cards.js';

/** Foreign containers by card, and notes about those that cannot be assigned to a card. */
export interface Pins {
  /** Names of containers, sorted. A card without a pinned container is not in it. */
  readonly byCard: ReadonlyMap<KnownCard, readonly string[]>;
  readonly notes: readonly string[];
}

/**
 * A foreign container that is running, paused or restarting uses the cards it was given by id, even while they are idle. One
 * with all cards (a monitoring agent) uses none, and one that could not be inspected is unknown: both become notes.
 */
export function readPins(docker: Probed<ContainersSeen>, cards: readonly KnownCard[]): Pins {
  const byCard = new Map<KnownCard, string[]>();
  const notes: string[] = [];
  for (const container of foreignByName(docker)) {
    const { pinned } = container;
    const name = cut(container.name, LONGEST_NAME);
    switch (pinned.kind) {
      case 'none':
        break;
      case 'all':
        if (!isAGate(container)) notes.push(`container ${name} can reach every card and is no job of ours`);
        break;
      case 'not_told':
        notes.push(`the cards of container ${name} are unknown: ${pinned.detail}`);
        break;
      case 'some': {
        const strangers = pinned.ids.filter((id) => cardsNamed(cards, id).length === 0);
        for (const card of new Set(pinned.ids.flatMap((id) => cardsNamed(cards, id)))) {
          byCard.set(card, [...(byCard.get(card) ?? []), name]);
        }
        if (strangers.length > 0) {
          notes.push(`container ${name} was given ${someOf(strangers)}, which names no card here`);
        }
        break;
      }
      default:
        pinned satisfies never;
    }
  }
  return { byCard, notes };
}

/** A gate in a container needs all cards to query them; the label is from its image. */
function isAGate({ labels }: SeenContainer): boolean {
  return labels['org.opencontainers.image.title'] === 'tuneplane-gpu-gate';
}

function foreignByName(docker: Probed<ContainersSeen>): readonly SeenContainer[] {
  if (docker.kind === 'blind') return [];
  return docker.value.containers
    .filter(({ claim, state }) => claim === null && ['running', 'paused', 'restarting'].includes(state))
    .toSorted((a, b) => a.name.localeCompare(b.name));
}
