import type { CardStore } from '../model/ports/card-store.js';
import type { Clock, Log } from '../model/ports/outside.js';
import { EXCLUSIONS, REMEMBERED_CARDS } from './file-formats.js';
import { openJsonFile } from './json-file.js';

/** The cards on disk, and a way to wait until every change is written or has failed. */
export type StoredCards = CardStore & { settled(): Promise<void> };

/** The cards seen and the cards taken out, from the two files in the folder. Never throws. */
export async function openCardStore(folder: string, outside: { clock: Clock; log: Log }): Promise<StoredCards> {
  const seen = await openJsonFile(folder, REMEMBERED_CARDS, outside);
  const excluded = await openJsonFile(folder, EXCLUSIONS, outside);

  return {
    remembered: () => seen.entries(),
    remember(cards) {
      void seen.replace(cards);
    },
    exclusions: () => excluded.entries(),
    async exclude(exclusion) {
      await excluded.change((all) => [...all.filter(({ uuid }) => uuid !== exclusion.uuid), exclusion]);
    },
    include: (uuid) => excluded.change((all) => all.filter((one) => one.uuid !== uuid)),
    forget: (uuid) => seen.change((all) => all.filter((one) => one.uuid !== uuid)),
    async settled() {
      await seen.replace(seen.entries());
      await excluded.change((all) => all);
    },
  };
}
