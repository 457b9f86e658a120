/** Removes the socket file of a killed gate, but only when nobody answers on it. */

import { lstat, unlink } from 'node:fs/promises';
import { connect } from 'node:net';

/** Makes room for a socket at this path. Throws if something else is there, or if a process answers on it. */
export async function clearStaleSocket(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => null);
  if (stats === null) return;
  if (!stats.isSocket()) throw new Error(`cannot listen on unix:${path}: there is a file there that is not a socket`);
  if (await somebodyAnswers(path)) {
    throw new Error(`cannot listen on unix:${path}: another program listens there already`);
  }
  await unlink(path);
}

/** Only a refused connection proves that nobody listens; any other error counts as a listener. */
function somebodyAnswers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'ECONNREFUSED'));
  });
}
