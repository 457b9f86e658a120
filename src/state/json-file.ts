import { join } from 'node:path';
import type { Clock, Log } from '../model/ports/outside.js';
import type { FileFormat } from './file-formats.js';
import { readOrSetAside } from './read-or-set-aside.js';
import { writeAtomic } from './write-atomic.js';

/** Entries in memory, backed by a file that is read once and written after each change. */
export interface JsonFile<Entry> {
  entries(): readonly Entry[];
  /**
   * Changes the entries by a function of the current ones, one change at a time. Rejects if the file cannot be written, and
   * then nothing has changed. Resolves to whether anything changed.
   */
  change(next: (entries: readonly Entry[]) => readonly Entry[]): Promise<boolean>;
  /**
   * Replaces all entries. Takes effect in memory at once and is written when possible; settles after the attempt, never
   * rejects.
   */
  replace(entries: readonly Entry[]): Promise<void>;
}

/** Opens a file of entries. Never throws: if the file is unreadable, starts empty. */
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

  /** One writer at a time, in order of the calls, however the earlier ones ended. */
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
        outside.log.error({ file, why }, `${file} cannot be written (${why}); its content is kept in memory`);
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
        // Applied once more to the current entries: they may have been replaced while the disk was busy.
        entries = next(entries);
        return format.print(changed) !== before;
      }),
    replace(all) {
      entries = all;
      return inTurn(writeIfPossible);
    },
  };
}
