import type { Hands } from '../model/ports/hands.js';

/** Wraps hands: after each change, or possible change, calls back so that the next look lists anew. */
export function notifyingHands(hands: Hands, changed: () => void): Hands {
  const telling = async <T>(done: Promise<T>): Promise<T> => {
    try {
      return await done;
    } finally {
      changed();
    }
  };
  return {
    ensureImage: (image, waitMs) => hands.ensureImage(image, waitMs),
    create: (spec, grant) => telling(hands.create(spec, grant)),
    compare: (id, spec, grant) => hands.compare(id, spec, grant),
    start: (id) => telling(hands.start(id)),
    remove: (id, only) => telling(hands.remove(id, only)),
    stop: (id, graceSeconds) => telling(hands.stop(id, graceSeconds)),
    giveUp: (id) => telling(hands.giveUp(id)),
  };
}
