/** Listens on all configured addresses, with limits on slow senders and on the number of connections, and shuts down gracefully. */

import { chmod } from 'node:fs/promises';
import type { RequestListener, Server } from 'node:http';
import { writeAddress, type ListenAddress } from '../settings/addresses.js';
import { errorWords } from '../text/error-words.js';
import { inTime } from '../time/in-time.js';
import { systemClock } from '../time/system-clock.js';
import { makeServer, type LimitedServer, type ServerOptions, type ServerState } from './make-server.js';
import { clearStaleSocket } from './stale-socket.js';

export interface Listening {
  /** The actual addresses: a port 0 is replaced by the real one. */
  readonly addresses: readonly ListenAddress[];
  /**
   * Stops accepting connections, lets requests in progress finish, and disconnects the rest after `graceMs`. Settles when
   * all is closed; true if nothing had to be disconnected.
   */
  close(graceMs: number): Promise<boolean>;
}

/**
 * Listens on all addresses or on none: if one fails, the others are closed, and the error says which address and why. A
 * request that arrives before all are open waits until they are, so that none is started by a process that is about to exit.
 */
export async function listen(
  app: RequestListener,
  addresses: readonly ListenAddress[],
  options: Partial<ServerOptions> = {},
): Promise<Listening> {
  const servers: LimitedServer[] = [];
  const state: ServerState = { open: false, closing: false, early: [] };
  const bound: ListenAddress[] = [];
  try {
    for (const address of addresses) {
      const made = makeServer(app, address, options, state);
      await bind(made.server, address);
      servers.push(made);
      bound.push(boundAddress(made.server, address));
    }
  } catch (error) {
    await closeAll(servers, 0);
    throw error;
  }
  state.open = true;
  for (const serve of state.early.splice(0)) serve();
  return {
    addresses: bound,
    close(graceMs) {
      state.closing = true;
      return closeAll(servers, graceMs);
    },
  };
}

async function bind(server: Server, address: ListenAddress): Promise<void> {
  if (address.kind === 'unix') await clearStaleSocket(address.path);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(
        address.kind === 'unix' ? { path: address.path } : { host: address.host, port: address.port },
        () => {
          server.off('error', reject);
          resolve();
        },
      );
    });
  } catch (error) {
    throw new Error(`cannot listen on ${writeAddress(address)}: ${whyNot(error)}`, { cause: error });
  }
  // Accessible to the group, so that a console can connect without being root; to nobody else.
  if (address.kind === 'unix') await chmod(address.path, 0o660);
}

function whyNot(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'EADDRINUSE') return 'another program listens there already';
  if (code === 'EACCES') return 'this user may not';
  if (code === 'EADDRNOTAVAIL') return 'this machine does not have the address';
  return errorWords(error);
}

function boundAddress(server: Server, address: ListenAddress): ListenAddress {
  const bound = server.address();
  const known = address.kind === 'tcp' && typeof bound === 'object' && bound !== null;
  return known ? { ...address, port: bound.port } : address;
}

/** `close()` closes only the connections that are idle at that moment; others would stay open for their keep-alive time. */
async function closeAll(servers: readonly LimitedServer[], graceMs: number): Promise<boolean> {
  const closed = Promise.all(servers.map(({ server }) => closing(server)));
  const idle = setInterval(() => {
    for (const { server, closeSilent } of servers) {
      server.closeIdleConnections();
      closeSilent();
    }
  }, 50);
  const orderly = (await inTime(closed, graceMs, systemClock)) !== null;
  clearInterval(idle);
  for (const { closeConnections } of servers) closeConnections();
  await closed;
  return orderly;
}

function closing(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
