/** The parts of an answer that an existing container supplies. */

import type { Decision, Running } from '../../model/admission.js';
import { cardsOf } from '../../model/container-cards.js';
import type { Books } from '../../model/ports/books.js';
import type { RememberedCard, SeenContainer } from '../../model/snapshot.js';

/** A run that has ended; with its exit code if the runtime reports it in time. */
export async function endedAnswer(
  container: SeenContainer,
  remembered: readonly RememberedCard[],
  books: Pick<Books, 'describe'>,
): Promise<Decision> {
  const details = await books.describe(container);
  const exitCode = details.kind === 'seen' ? (details.value?.exitCode ?? null) : null;
  return { kind: 'ended', ...runningAnswer(container, remembered, exitCode) };
}

/** What the listed container itself supplies. The exit code takes another request. */
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
