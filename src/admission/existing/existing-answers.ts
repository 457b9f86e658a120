/** What a container that is there tells about itself, as parts of an answer. */

import type { Decision, Running } from '../../model/admission.js';
import { cardsOf } from '../../model/container-cards.js';
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
