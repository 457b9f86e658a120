import type { CardStore } from '../model/ports/card-store.js';
import type { Clock, Log } from '../model/ports/outside.js';
import { openExclusions } from './exclusion-store.js';
import { REMEMBERED_CARDS } from './file-formats.js';
import { openJsonFile } from './json-file.js';

/** The cards on disk, and a way to wait until every change is written or has failed. */
export type StoredCards = CardStore & { settled(): Promise<void> };

/** The cards seen and the cards taken out, from the files in the folder. Never throws. */
export async function openCardStore(folder: string, outside: { clock: Clock; log: Log }): Promise<StoredCards> {
  const seen = await openJsonFile(folder, REMEMBERED_CARDS, outside);
  const excluded = await openExclusions(folder, outside);

  return {
    ...excluded,
    remembered: () => seen.entries(),
    remember(cards) {
      void seen.replace(cards);
    },
    forget: (uuid) => seen.change((all) => all.filter((one) => one.uuid !== uuid)),
    async settled() {
      await seen.replace(seen.entries());
      await excluded.settled();
    },
  };
}
