/** The HTTP server of one address, with limits on slow clients and on the number of connections. */

import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { writeAddress, type ListenAddress } from '../settings/addresses.js';
import { errorWords } from '../text/error-words.js';
import { systemClock } from '../time/system-clock.js';
import { answerBrokenRequest, refuseConnect } from './broken-request.js';
import { limitConnections } from './connections/limit-connections.js';
import { oneAtATime } from './connections/one-at-a-time.js';
import { markOverUnixSocket } from './connections/over-unix.js';
import { whenItSpeaks } from './connections/when-it-speaks.js';

export interface TimeLimits {
  /** How often the other limits are checked; Node's own 30 s would make them meaningless. */
  readonly checkEveryMs: number;
  readonly headersMs: number;
  /** For the whole request, body included. It does not limit the answer. */
  readonly requestMs: number;
  /** How long a client may go without reading any of its response. */
  readonly unreadMs: number;
  /** How long a client may go without sending anything after it has connected. */
  readonly silentMs: number;
}

/** Above a scrape interval of a minute, so that Prometheus keeps its connection. */
const KEEP_ALIVE_MS = 75_000;

/** A request is at most 256 KiB, so a sender that needs longer is stuck or malicious. */
const LIMITS: TimeLimits = {
  checkEveryMs: 1000,
  headersMs: 10_000,
  requestMs: 20_000,
  unreadMs: 20_000,
  // As long as one that has had an answer. Who is cut off comes again, and a new connection costs more than a silent one.
  silentMs: KEEP_ALIVE_MS,
};

/** What a new TCP connection goes through before HTTP: TLS. Returns the function that takes the connection. */
export type Front = (serve: (socket: Socket) => void) => (socket: Socket) => void;

export interface ServerOptions {
  readonly limits: TimeLimits;
  /** The most connections on the address at a time. */
  readonly connections: number;
  /** Called with a sentence whenever a connection cannot be accepted, or one is closed because there are too many. */
  readonly onTrouble: (sentence: string) => void;
  readonly front: Front;
}

/** Shared by the servers of all addresses. */
export interface ServerState {
  open: boolean;
  closing: boolean;
  /** Requests that arrived before all addresses were open. */
  readonly early: (() => void)[];
}

export interface LimitedServer {
  readonly server: Server;
  /** Disconnects clients that have not sent anything. */
  readonly closeSilent: () => void;
  /** Disconnects all clients. */
  readonly closeConnections: () => void;
}

export function makeServer(
  app: RequestListener,
  address: ListenAddress,
  { limits = LIMITS, connections = 512, onTrouble = () => undefined, front = (serve) => serve }: Partial<ServerOptions>,
  state: ServerState,
): LimitedServer {
  const name = writeAddress(address);
  const limit = limitConnections({
    most: connections,
    unreadMs: limits.unreadMs,
    silentMs: limits.silentMs,
    clock: systemClock,
    onFull: () => onTrouble(`${name} has ${connections} connections, the most that it may have; idle ones are closed`),
  });
  const served = oneAtATime((req: IncomingMessage, res: ServerResponse) => {
    limit.begin(req, res);
    if (state.closing) res.setHeader('Connection', 'close');
    if (state.open) app(req, res);
    else state.early.push(() => app(req, res));
  });
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
  // By default Node answers an unknown `Expect` with an empty 417, and closes the connection on CONNECT.
  server.on('checkExpectation', served);
  server.on('connect', (_req, socket) => refuseConnect(socket));
  server.on('clientError', answerBrokenRequest);
  // Out of descriptors, for example. Without a listener for it, this event would end the process.
  server.on('error', (error) => {
    if (server.listening) onTrouble(`${name} cannot take a connection: ${errorWords(error)}`);
  });

  // Node's own listener speaks HTTP; it gets each connection once the front has accepted it.
  const speakHttp = server.listeners('connection');
  server.removeAllListeners('connection');
  const take = (address.kind === 'unix' ? (next: (socket: Socket) => void) => next : front)((stream) => {
    whenItSpeaks(stream, () => {
      limit.reads(stream);
      for (const listener of speakHttp) Reflect.apply(listener, server, [stream]);
    });
  });
  let looking: NodeJS.Timeout | null = null;
  const lookOnWhileAnybodyIsHere = (): void => {
    looking ??= setInterval(() => {
      limit.closeOverdue();
      if (limit.isEmpty && looking !== null) looking = stopLooking(looking);
    }, limits.checkEveryMs).unref();
  };
  server.on('connection', (socket) => {
    limit.add(socket);
    lookOnWhileAnybodyIsHere();
    if (address.kind === 'unix') markOverUnixSocket(socket);
    if (!socket.destroyed) take(socket);
  });

  server.once('close', () => looking !== null && stopLooking(looking));
  return { server, closeSilent: () => limit.closeSilent(), closeConnections: () => limit.closeAll() };
}

/** An idle gate wakes up as seldom as it can. */
function stopLooking(looking: NodeJS.Timeout): null {
  clearInterval(looking);
  return null;
}
