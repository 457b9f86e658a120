/** Whether a request came over a unix socket. Stored with its connection, since a closed socket cannot tell. */

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

const overUnix = Symbol('came over a unix socket');

export function isOverUnixSocket(req: IncomingMessage): boolean {
  return overUnix in req.socket;
}

export function markOverUnixSocket(socket: Socket): void {
  Object.assign(socket, { [overUnix]: true });
}
