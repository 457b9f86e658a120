import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Replaces the file's text atomically: a reader, or a machine that loses power, finds the old text or the new one. Rejects
 * on failure, and then the old text remains. One writer per file at a time.
 */
export async function writeAtomic(file: string, text: string): Promise<void> {
  const next = `${file}.new`;
  try {
    await withOpen(next, 'w', async (handle) => {
      await handle.writeFile(text);
      await handle.sync();
    });
    await rename(next, file);
  } catch (error) {
    await rm(next, { force: true }).catch(() => undefined);
    throw error;
  }
  // The new name must reach the disk too; where the file system cannot guarantee that, the text is written all the same.
  await withOpen(dirname(file), 'r', async (handle) => handle.sync()).catch(() => undefined);
}

type Handle = Awaited<ReturnType<typeof open>>;

async function withOpen(path: string, flags: 'w' | 'r', use: (handle: Handle) => Promise<void>): Promise<void> {
  const handle = await open(path, flags, 0o600);
  try {
    await use(handle);
  } finally {
    await handle.close();
  }
}
