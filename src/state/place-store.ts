import type { PlaceStore } from '../model/ports/line.js';
import type { Clock, Log } from '../model/ports/outside.js';
import { LINE } from './file-formats.js';
import { openJsonFile } from './json-file.js';

/** The line on disk, and a way to wait until the last change is written or has failed. */
export type StoredPlaces = PlaceStore & { settled(): Promise<void> };

/**
 * The line in the folder. Never throws. Many changes at once are one write, beside the answers: a gate that is killed in that moment
 * loses what came in it, and a gate that ends in order loses nothing.
 */
export async function openPlaceStore(folder: string, outside: { clock: Clock; log: Log }): Promise<StoredPlaces> {
  const file = await openJsonFile(folder, LINE, outside);
  let next: PlaceStore['kept'] | null = null;
  let writing: Promise<void> = Promise.resolve();
  let isWriting = false;

  async function write(): Promise<void> {
    isWriting = true;
    while (next !== null) {
      const places = next;
      next = null;
      await file.replace(places);
    }
    isWriting = false;
  }

  return {
    kept: file.entries(),
    keep(places) {
      next = places;
      if (!isWriting) writing = write();
    },
    settled: () => writing,
  };
}
