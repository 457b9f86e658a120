/** Keeps two gates out of one state folder. */

import { once } from 'node:events';
import { createServer } from 'node:net';

export type FolderLock = { readonly kind: 'ours'; unlock(): Promise<void> } | { readonly kind: 'taken' };

/** A name in the kernel's abstract space is at most this long, its leading zero byte left out (unix(7)). */
const ABSTRACT_NAME_LENGTH = 107;

/**
 * The name that stands for a folder, whatever path leads to it. Filled up to the full length, since older Node versions
 * filled it with zero bytes and newer ones do not: two gates on different versions must still meet.
 */
export function folderLockName(folder: { readonly dev: bigint; readonly ino: bigint }): string {
  return `tuneplane-gpu-gate/state-folder/${folder.dev}-${folder.ino}/`.padEnd(ABSTRACT_NAME_LENGTH, '.');
}

/**
 * Takes a name that only one live process can have: an abstract unix socket, which the kernel frees when its process ends,
 * however it ends. No file is left behind that could speak for a dead one. Processes in different network namespaces (two
 * containers) do not meet.
 */
export async function lockFolder(name: string): Promise<FolderLock> {
  const server = createServer((caller) => caller.destroy());
  server.unref();
  try {
    server.listen(`\0${name}`);
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return { kind: 'taken' };
    throw error;
  }
  // A caller that breaks off is no concern of ours.
  server.on('error', () => undefined);
  return {
    kind: 'ours',
    async unlock() {
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
}
