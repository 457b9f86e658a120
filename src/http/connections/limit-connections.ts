/** Limits the connections of one address: how many there may be, and which one is closed when one more arrives. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../model/ports/outside.js';

export interface LimitParts {
  /** The most connections at a time. */
  readonly most: number;
  /** How long a client may go without reading any of its response. */
  readonly unreadMs: number;
  /** How long a client may go without sending anything after it has connected. */
  readonly silentMs: number;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Called whenever a connection is closed, or not accepted, because there are too many. */
  readonly onFull: () => void;
}

export interface ConnectionLimit {
  /**
   * A new connection. When all places are taken, one of the address that has most is closed, of those that wait for their client:
   * the oldest that never sent a whole request, or else the one that has waited longest; or else this one.
   */
  add(socket: Socket): void;
  /** Its client has sent something: the connection is read and written through this socket, itself or TLS over it. */
  reads(stream: Socket): void;
  /** A request begins. Until its response is sent, its connection is not closed, except while it waits for its client. */
  begin(req: IncomingMessage, res: ServerResponse): void;
  /** To be called regularly: closes connections whose clients do not read, or have never sent anything. */
  closeOverdue(): void;
  /** There is no connection, so that none can be overdue. */
  readonly isEmpty: boolean;
  /** Closes those whose clients have not sent anything. */
  closeSilent(): void;
  closeAll(): void;
}

/** How much memory unread responses may take, all connections of the address together. A metrics page is about 50 KB. */
const MOST_UNREAD_BYTES = 8 * 1024 * 1024;

interface Connection {
  readonly socket: Socket;
  /** Of its client; undefined for a unix socket. */
  readonly address: string | undefined;
  /** What requests come through: the socket, or TLS over it. */
  stream: Socket;
  /** When it was opened, when its current request began, or when that was answered. */
  sinceMs: number;
  request: IncomingMessage | null;
  /** Bytes written to it that the kernel has accepted. */
  flushed: number;
  /** When `flushed` last grew while there was more; null when everything is flushed. */
  unreadSinceMs: number | null;
}

/** A limit with no connections yet. */
export function limitConnections({ most, unreadMs, silentMs, clock, onFull }: LimitParts): ConnectionLimit {
  const connections = new Map<Socket, Connection>();
  const byStream = new WeakMap<Socket, Connection>();
  /** Each connection is in one of the first two, in the order of their coming. A crowd of silent ones is not walked for every request. */
  const silent = new Set<Connection>();
  const speaking = new Set<Connection>();
  const neverAsked = new Set<Connection>();
  const countOf = new Map<string | undefined, number>();

  function enter(connection: Connection): void {
    connections.set(connection.socket, connection);
    silent.add(connection);
    neverAsked.add(connection);
    countOf.set(connection.address, (countOf.get(connection.address) ?? 0) + 1);
  }

  function leave(connection: Connection): void {
    if (!connections.delete(connection.socket)) return;
    for (const group of [silent, speaking, neverAsked]) group.delete(connection);
    const left = (countOf.get(connection.address) ?? 0) - 1;
    if (left > 0) countOf.set(connection.address, left);
    else countOf.delete(connection.address);
  }

  function close(connection: Connection): void {
    leave(connection);
    connection.socket.destroy();
  }

  function longestWaiting(among: Iterable<Connection>, fits: (connection: Connection) => boolean): Connection | null {
    let longest: Connection | null = null;
    for (const connection of among) {
      if (!fits(connection)) continue;
      if (longest === null || waitingSince(connection) < waitingSince(longest)) longest = connection;
    }
    return longest;
  }

  /** The remote address with the most connections, the new one's own where several have as many. */
  function busiestAddress(own: string | undefined): string | undefined {
    let busiest = own;
    for (const [address, count] of countOf) if (count > (countOf.get(busiest) ?? 0)) busiest = address;
    return busiest;
  }

  /** Whom to close for a new connection. So one address that opens many takes nothing from the others. */
  function dispensable(newcomer: Socket): Connection | null {
    const busiest = busiestAddress(newcomer.remoteAddress);
    for (const connection of neverAsked) {
      if (connection.address === busiest && waitsForClient(connection)) return connection;
    }
    return (
      longestWaiting(connections.values(), (each) => each.address === busiest && waitsForClient(each)) ??
      longestWaiting(connections.values(), waitsForClient)
    );
  }

  function boundUnread(): void {
    let unread = 0;
    for (const { stream } of speaking) unread += stream.writableLength;
    while (unread > MOST_UNREAD_BYTES) {
      const longest = longestWaiting(speaking, hasUnread);
      if (longest === null) return;
      unread -= longest.stream.writableLength;
      close(longest);
    }
  }

  return {
    add(socket) {
      if (connections.size >= most) {
        onFull();
        const goes = dispensable(socket);
        if (goes === null) {
          socket.destroy();
          return;
        }
        close(goes);
      }
      const connection: Connection = {
        socket,
        address: socket.remoteAddress,
        stream: socket,
        sinceMs: clock.monotonic(),
        request: null,
        flushed: 0,
        unreadSinceMs: null,
      };
      enter(connection);
      socket.once('close', () => leave(connection));
    },

    reads(stream) {
      // TLS does not tell which socket it is over; an address and its port have one connection at a time.
      const connection =
        connections.get(stream) ??
        [...connections.values()].find(
          ({ socket }) => socket.remotePort === stream.remotePort && socket.remoteAddress === stream.remoteAddress,
        );
      if (connection === undefined) return;
      connection.stream = stream;
      byStream.set(stream, connection);
      silent.delete(connection);
      speaking.add(connection);
    },

    begin(req, res) {
      const connection = byStream.get(req.socket);
      if (connection === undefined) return;
      connection.request = req;
      connection.sinceMs = clock.monotonic();
      if (req.complete) neverAsked.delete(connection);
      res.once('close', () => {
        if (req.complete) neverAsked.delete(connection);
        // The next pipelined request may have begun already.
        if (connection.request !== req) return;
        connection.request = null;
        connection.sinceMs = clock.monotonic();
      });
      boundUnread();
    },

    closeOverdue() {
      const now = clock.monotonic();
      for (const connection of silent) if (now - connection.sinceMs >= silentMs) close(connection);
      for (const connection of speaking) {
        const flushed = connection.stream.bytesWritten - connection.stream.writableLength;
        if (!hasUnread(connection)) connection.unreadSinceMs = null;
        else if (connection.unreadSinceMs === null || flushed > connection.flushed) connection.unreadSinceMs = now;
        else if (now - connection.unreadSinceMs >= unreadMs) close(connection);
        connection.flushed = flushed;
      }
    },

    get isEmpty() {
      return connections.size === 0;
    },

    closeSilent() {
      for (const connection of silent) close(connection);
    },

    closeAll() {
      for (const connection of connections.values()) close(connection);
    },
  };
}

/** Whether the client has to act next: ask, send the rest of its request, or read the response. */
function waitsForClient(connection: Connection): boolean {
  return hasUnread(connection) || connection.request?.complete !== true;
}

function waitingSince({ unreadSinceMs, sinceMs }: Connection): number {
  return unreadSinceMs ?? sinceMs;
}

function hasUnread({ stream }: Connection): boolean {
  return stream.writableLength > 0;
}
