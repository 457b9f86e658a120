import type { Hands } from '../model/ports/hands.js';
import type { SeenContainer } from '../model/snapshot.js';

/** The same hands, which tell of each container that was removed as never started, and had run. */
export function rememberingHands(
  hands: Hands,
  hadRun: (run: { readonly container: SeenContainer; readonly exitCode: number | null }) => void,
): Hands {
  return {
    ...hands,
    async remove(id, only) {
      const answer = await hands.remove(id, only);
      if (answer.kind === 'had_run') hadRun(answer);
      return answer;
    },
  };
}
