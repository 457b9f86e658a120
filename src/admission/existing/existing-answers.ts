/** What a container that is there tells about itself, as parts of an answer. */

import type { Decision, GrantedCard, Running } from '../../model/admission.js';
import { cardIndex, cardUuid, type CardIndex, type CardUuid } from '../../model/card.js';
import { LABEL } from '../../model/labels.js';
import type { Books } from '../../model/ports/books.js';
import type { RememberedCard, SeenContainer } from '../../model/snapshot.js';

/** A run that has ended, with its exit code where the runtime tells it in time. */
export async function endedAnswer(
  container: SeenContainer,
  remembered: readonly RememberedCard[],
  books: Pick<Books, 'describe'>,
): Promise<Decision> {
  const details = await books.describe(container);
  const exitCode = details.kind === 'seen' ? (details.value?.exitCode ?? null) : null;
  return { kind: 'ended', ...runningAnswer(container, remembered, exitCode) };
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
