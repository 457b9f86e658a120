/** Waits for the first bytes of a connection: until then it costs no HTTP parser, which is most of what a silent one would cost. */

import type { Socket } from 'node:net';

/** Calls `serve` when the client has sent something; what it has sent is read by whoever listens from then on. */
export function whenItSpeaks(socket: Socket, serve: () => void): void {
  const hungUp = (): void => void socket.destroy();
  socket.on('error', hungUp);
  socket.once('end', hungUp);
  socket.once('data', (first: Buffer) => {
    socket.off('end', hungUp);
    serve();
    socket.off('error', hungUp);
    socket.unshift(first);
  });
}
