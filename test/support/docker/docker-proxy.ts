/**
 * A proxy between a gate and its engine that delays or drops chosen calls, so that a gate can be killed at an exact step.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';

/**
 * `hold`: never forwarded. `hold answer`: forwarded, and the answer kept until `letGo`. `lose`: forwarded, and the answer is
 * lost (the connection breaks). `delayMs`: forwarded later.
 * `changeBody`: passed on with another body.
 * `cutThenMs`: the connection breaks at once, and the request is carried out so much later.
 */
export type Treatment =
  | 'pass'
  | 'hold'
  | 'hold answer'
  | 'lose'
  | { readonly delayMs: number }
  | { readonly cutThenMs: number }
  | { readonly changeBody: (body: string) => string };

export interface DockerProxy {
  readonly dockerHost: string;
  /** Decides for each request from now on; `what` is method and path without query: `POST /containers/…/start`. */
  treat(decide: (what: string) => Treatment): void;
  /** The requests, in order. */
  readonly asked: readonly string[];
  /** How many requests or answers are held now. */
  readonly holding: number;
  /** Forwards the answers that were held. */
  letGo(): void;
  stop(): Promise<void>;
}

export async function startDockerProxy(engineSocket: string): Promise<DockerProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'docker-proxy-'));
  const path = join(folder, 'docker.sock');
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  let decide: (what: string) => Treatment = () => 'pass';
  let holding = 0;
  const kept: (() => void)[] = [];

  const server = createServer((from, to) => {
    const what = `${from.method} ${(from.url ?? '').split('?')[0] ?? ''}`;
    asked.push(what);
    const treatment = decide(what);
    if (treatment === 'hold') {
      holding++;
      from.resume();
      to.once('close', () => holding--);
      return;
    }
    if (typeof treatment === 'object' && 'cutThenMs' in treatment) {
      void cutThenPassOn(engineSocket, from, to, treatment.cutThenMs);
      return;
    }
    if (typeof treatment === 'object' && 'changeBody' in treatment) {
      void passOnChanged(engineSocket, from, to, treatment.changeBody);
      return;
    }
    if (treatment === 'hold answer') {
      holding++;
      passOn(engineSocket, from, to, (go) => kept.push(go));
      return;
    }
    const later = typeof treatment === 'object' && 'delayMs' in treatment ? treatment.delayMs : 0;
    setTimeout(() => passOn(engineSocket, from, to, treatment === 'lose' ? 'lose' : (go) => go()), later);
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));

  return {
    dockerHost: `unix://${path}`,
    asked,
    treat: (how) => {
      decide = how;
    },
    get holding() {
      return holding;
    },
    letGo() {
      holding -= kept.length;
      for (const go of kept.splice(0)) go();
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function cutThenPassOn(
  socketPath: string,
  from: IncomingMessage,
  to: ServerResponse,
  laterMs: number,
): Promise<void> {
  const { method, url, headers } = from;
  const body = await buffer(from);
  to.destroy();
  setTimeout(() => {
    const onward = request({ socketPath, method, path: url, headers }, (answer) => answer.resume());
    onward.on('error', () => undefined);
    onward.end(body);
  }, laterMs);
}

async function passOnChanged(
  socketPath: string,
  from: IncomingMessage,
  to: ServerResponse,
  change: (body: string) => string,
): Promise<void> {
  const { method, url, headers } = from;
  const body = Buffer.from(change((await buffer(from)).toString()));
  const onward = request(
    { socketPath, method, path: url, headers: { ...headers, 'content-length': body.length } },
    (answer) => {
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(to);
    },
  );
  onward.on('error', () => to.destroy());
  onward.end(body);
}

function passOn(
  socketPath: string,
  from: IncomingMessage,
  to: ServerResponse,
  answered: 'lose' | ((go: () => void) => void),
): void {
  const onward = request({ socketPath, method: from.method, path: from.url, headers: from.headers }, (answer) => {
    if (answered === 'lose') {
      answer.resume();
      answer.once('end', () => to.destroy());
      return;
    }
    answered(() => {
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      // Headers at once: a stream of events may have no event for long.
      to.flushHeaders();
      answer.pipe(to);
      // A stream that the engine breaks off is broken off here too.
      answer.once('close', () => answer.complete || to.destroy());
    });
  });
  onward.on('error', () => to.destroy());
  from.pipe(onward);
}
