import type { Hands } from '../model/ports/hands.js';

/** The same hands, which tell after whatever they did, or may have done, that the books have changed. */
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
    start: (id) => telling(hands.start(id)),
    remove: (id, only) => telling(hands.remove(id, only)),
    giveUp: (id) => telling(hands.giveUp(id)),
  };
}
