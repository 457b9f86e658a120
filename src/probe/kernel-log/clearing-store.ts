import type { CardStore } from '../../model/ports/card-store.js';
import type { KernelLog } from './kernel-log.js';

/** A store in which an operator's `include` also clears the card's Xids. */
export function clearingXids(store: CardStore, kernelLog: Pick<KernelLog, 'clear'>): CardStore {
  return {
    ...store,
    include: async (uuid) => {
      const wasExcluded = await store.include(uuid);
      return kernelLog.clear(uuid) || wasExcluded;
    },
  };
}
