import { join } from 'node:path';
import type { Clock, Log } from '../model/ports/outside.js';
import type { FileFormat } from './file-formats.js';
import { readOrSetAside } from './read-or-set-aside.js';
import { writeAtomic } from './write-atomic.js';

/** Entries in memory with a file behind them; the file is read once and written after each change. */
export interface JsonFile<Entry> {
  entries(): readonly Entry[];
  /**
   * Changes the entries by a function of those that stand then, one change after the other. Rejects when the file cannot be
   * written, and then nothing has changed. Resolves to whether anything did.
   */
  change(next: (entries: readonly Entry[]) => readonly Entry[]): Promise<boolean>;
  /** Puts these in the place of all. Stands in memory at once, and is written when it can be; settles after the try, never rejects. */
  replace(entries: readonly Entry[]): Promise<void>;
}

/** Opens a file of entries. Never throws: a file that cannot be read is begun anew. */
export async function openJsonFile<Entry>(
  folder: string,
  format: FileFormat<Entry>,
  outside: { clock: Clock; log: Log },
): Promise<JsonFile<Entry>> {
  const file = join(folder, format.fileName);
  let entries = (await readOrSetAside(file, (text) => format.parse(text), outside)) ?? [];
  let onDisk = format.print(entries);
  let turn: Promise<unknown> = Promise.resolve();
  let complained = false;

  /** One writer at a time, in the order of asking, whatever became of those before. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = turn.then(work);
    turn = mine.catch(() => undefined);
    return mine;
  }

  async function write(next: readonly Entry[]): Promise<void> {
    const text = format.print(next);
    if (text === onDisk) return;
    await writeAtomic(file, text);
    onDisk = text;
    complained = false;
  }

  async function writeIfPossible(): Promise<void> {
    try {
      await write(entries);
    } catch (error) {
      const why = (error as Error).message;
      if (!complained)
        outside.log.error({ file, why }, `${file} cannot be written (${why}); what it should say is kept in memory`);
      complained = true;
    }
  }

  return {
    entries: () => entries,
    change: (next) =>
      inTurn(async () => {
        const before = format.print(entries);
        const changed = next(entries);
        await write(changed);
        // Once more, on what stands now: it may have been replaced while the disk was busy.
        entries = next(entries);
        return format.print(changed) !== before;
      }),
    replace(all) {
      entries = all;
      return inTurn(writeIfPossible);
    },
  };
}
