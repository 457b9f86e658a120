/** Serves the requests of each connection one at a time. */

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Pipelined requests that may wait on a connection. Each takes about 5 KB; no common client pipelines. */
export const MOST_WAITING = 8;

interface Pipeline {
  serving: boolean;
  readonly waiting: (readonly [IncomingMessage, ServerResponse])[];
}

/**
 * Starts the next request of a connection when the response before it has been handed to the kernel, so a client that sends many
 * requests and reads nothing costs one response. One that has more than `MOST_WAITING` waiting is disconnected.
 */
export function oneAtATime(serve: RequestListener): RequestListener {
  const pipelines = new WeakMap<Socket, Pipeline>();

  function begin(socket: Socket, pipeline: Pipeline, req: IncomingMessage, res: ServerResponse): void {
    pipeline.serving = true;
    res.once('close', () => {
      pipeline.serving = false;
      const next = pipeline.waiting.shift();
      if (next === undefined) return;
      if (socket.destroyed) pipeline.waiting.length = 0;
      else begin(socket, pipeline, ...next);
    });
    serve(req, res);
  }

  return (req, res) => {
    const { socket } = req;
    if (socket.destroyed) return;
    const pipeline = pipelines.get(socket) ?? { serving: false, waiting: [] };
    pipelines.set(socket, pipeline);
    if (!pipeline.serving) begin(socket, pipeline, req, res);
    else if (pipeline.waiting.length < MOST_WAITING) pipeline.waiting.push([req, res]);
    else {
      pipeline.waiting.length = 0;
      stopParsing(socket);
      socket.destroy();
    }
  };
}

/**
 * Node parses everything that it has read, even for a destroyed socket: 64 KiB hold 1,500 requests, and to make and abort them
 * takes the event loop 100 ms. Its parser ends where a request becomes another protocol, which is what it is told here.
 */
function stopParsing(socket: Socket): void {
  const parser: unknown = Reflect.get(socket, 'parser');
  if (typeof parser === 'object' && parser !== null) Reflect.set(parser, 'onIncoming', () => ANOTHER_PROTOCOL);
}

const ANOTHER_PROTOCOL = 2;
