/** Listens on all configured addresses, with limits on slow senders and on the number of connections, and shuts down gracefully. */

import { chmod } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { writeAddress, type ListenAddress } from '../settings/addresses.js';
import { errorWords } from '../text/error-words.js';
import { inTime } from '../time/in-time.js';
import { systemClock } from '../time/system-clock.js';
import { answerBrokenRequest, refuseConnect } from './broken-request.js';
import { limitConnections } from './connections/limit-connections.js';
import { oneAtATime } from './connections/one-at-a-time.js';
import { clearStaleSocket } from './stale-socket.js';

export interface TimeLimits {
  /** How often the other limits are checked; Node's own 30 s would make them meaningless. */
  readonly checkEveryMs: number;
  readonly headersMs: number;
  /** For the whole request, body included. It does not limit the answer. */
  readonly requestMs: number;
  /** How long a client may go without reading any of its response. */
  readonly unreadMs: number;
}

/** A request is at most 256 KiB, so a sender that needs longer is stuck or malicious. */
const LIMITS: TimeLimits = { checkEveryMs: 500, headersMs: 10_000, requestMs: 20_000, unreadMs: 20_000 };

export interface ListenOptions {
  readonly limits?: TimeLimits;
  /** The most connections on each address at a time. */
  readonly connections?: number;
  /** Called with a sentence whenever a connection cannot be accepted, or one is closed because there are too many. */
  readonly onTrouble?: (sentence: string) => void;
}

/** Above a scrape interval of a minute, so that Prometheus keeps its connection. */
const KEEP_ALIVE_MS = 75_000;

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
  { limits = LIMITS, connections = 512, onTrouble = () => undefined }: ListenOptions = {},
): Promise<Listening> {
  const servers: Server[] = [];
  const state: State = { open: false, closing: false, early: [] };
  const bound: ListenAddress[] = [];
  try {
    for (const address of addresses) {
      const server = makeServer(app, address, { limits, connections, onTrouble }, state);
      await bind(server, address);
      servers.push(server);
      bound.push(boundAddress(server, address));
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

/** Whether a request came over a unix socket. Stored per server, since a closed socket cannot tell. */
export function isOverUnixSocket(req: IncomingMessage): boolean {
  return overUnix in req.socket;
}

const overUnix = Symbol('came over a unix socket');

/** Shared by the servers of all addresses. */
interface State {
  open: boolean;
  closing: boolean;
  /** Requests that arrived before all addresses were open. */
  readonly early: (() => void)[];
}

function makeServer(
  app: RequestListener,
  address: ListenAddress,
  { limits, connections, onTrouble }: Required<ListenOptions>,
  state: State,
): Server {
  const connectionLimit = limitConnections({
    most: connections,
    unreadMs: limits.unreadMs,
    clock: systemClock,
    onFull: () =>
      onTrouble(
        `${writeAddress(address)} has ${connections} connections, the most that it may have; idle ones are closed`,
      ),
  });
  const served = oneAtATime(serve);
  const server = createServer(
    {
      connectionsCheckingInterval: limits.checkEveryMs,
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Answered by us, in the form of every other refusal.
      requireHostHeader: false,
    },
    served,
  );
  function serve(req: IncomingMessage, res: ServerResponse): void {
    connectionLimit.begin(req, res);
    if (state.closing) res.setHeader('Connection', 'close');
    if (state.open) app(req, res);
    else state.early.push(() => app(req, res));
  }
  // By default Node answers an unknown `Expect` with an empty 417, and closes the connection on CONNECT.
  server.on('checkExpectation', served);
  server.on('connect', (_req, socket) => refuseConnect(socket));
  server.on('connection', (socket) => {
    connectionLimit.add(socket);
    if (address.kind === 'unix') Object.assign(socket, { [overUnix]: true });
  });
  server.on('clientError', answerBrokenRequest);
  // Out of descriptors, for example. Without a listener for it, this event would end the process.
  server.on('error', (error) => onTrouble(`${writeAddress(address)} cannot take a connection: ${errorWords(error)}`));
  const looking = setInterval(() => connectionLimit.closeUnread(), limits.checkEveryMs).unref();
  server.once('close', () => clearInterval(looking));
  return server;
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
async function closeAll(servers: readonly Server[], graceMs: number): Promise<boolean> {
  const closed = Promise.all(servers.map(closing));
  const idle = setInterval(() => {
    for (const server of servers) server.closeIdleConnections();
  }, 50);
  const orderly = (await inTime(closed, graceMs, systemClock)) !== null;
  clearInterval(idle);
  for (const server of servers) server.closeAllConnections();
  await closed;
  return orderly;
}

function closing(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
