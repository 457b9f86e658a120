/** Puts TLS between the connections of a TCP address and its HTTP server. */

import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { TlsPolicy } from './tls-policy.js';

export interface TlsFrontParts {
  /** The current policy of the web config. */
  readonly connections: () => TlsPolicy | 'plain' | 'nobody';
  readonly handshakeMs: number;
  /** A connection to serve: the socket itself, or the TLS socket once its client is accepted. */
  readonly serve: (socket: Socket) => void;
}

/** For each new connection. Open connections keep the policy that they began with. */
export function createTlsFront({ connections, handshakeMs, serve }: TlsFrontParts): (socket: Socket) => void {
  let last: { readonly policy: TlsPolicy; readonly server: Server } | null = null;

  /** Does not listen: connections are handed to it. */
  function serverOf(policy: TlsPolicy): Server {
    if (last?.policy === policy) return last.server;
    const server = createServer({ ...policy.options, handshakeTimeout: handshakeMs });
    server.on('secureConnection', (socket: TLSSocket) => {
      if (policy.refusal(socket) === null) serve(socket);
      else socket.destroy();
    });
    // Not TLS, no common version or suite, or no handshake in time.
    server.on('tlsClientError', (_error, socket) => socket.destroy());
    last = { policy, server };
    return server;
  }

  return (socket) => {
    const policy = connections();
    if (policy === 'plain') serve(socket);
    else if (policy === 'nobody') socket.destroy();
    else serverOf(policy).emit('connection', socket);
  };
}
