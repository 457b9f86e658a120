import type { Hands } from '../model/ports/hands.js';
import type { SeenContainer } from '../model/snapshot.js';

/** Wraps hands: reports each container that was removed as never started, and had run. */
export function rememberingHands(
  hands: Hands,
  hadRun: (run: { readonly container: SeenContainer; readonly exitCode: number | null }) => void,
): Hands {
  return {
    ensureImage: (image, waitMs) => hands.ensureImage(image, waitMs),
    create: (spec, grant) => hands.create(spec, grant),
    compare: (id, spec, grant) => hands.compare(id, spec, grant),
    start: (id) => hands.start(id),
    async remove(id, only) {
      const answer = await hands.remove(id, only);
      if (answer.kind === 'had_run') hadRun(answer);
      return answer;
    },
    stop: (id, graceSeconds) => hands.stop(id, graceSeconds),
    giveUp: (id) => hands.giveUp(id),
  };
}
