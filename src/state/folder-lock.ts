/** Keeps two gates from using one state folder. */

import { once } from 'node:events';
import { createServer } from 'node:net';

export type FolderLock = { readonly kind: 'ours'; unlock(): Promise<void> } | { readonly kind: 'taken' };

/** The length of a name in the kernel's abstract namespace, without its leading zero byte (unix(7)). */
const ABSTRACT_NAME_LENGTH = 107;

/**
 * The name for a folder, whatever path leads to it. Padded to the full length: older Node versions padded it with zero bytes
 * and newer ones do not, and two gates on different versions must still collide.
 */
export function folderLockName(folder: { readonly dev: bigint; readonly ino: bigint }): string {
  return `tuneplane-gpu-gate/state-folder/${folder.dev}-${folder.ino}/`.padEnd(ABSTRACT_NAME_LENGTH, '.');
}

/**
 * Takes a name that only one live process can hold: an abstract unix socket, which the kernel frees when the process ends,
 * however it ends. No stale file can remain. Processes in different network namespaces (two containers) do not collide.
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
  // A client that breaks off the connection is no error here.
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
