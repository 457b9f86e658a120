import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Docker from 'dockerode';

/** What the faulty engine does with one request. */
export type StrangeAnswer =
  | { readonly status: number; readonly body: string }
  /** Accepts the request and never answers. */
  | 'silence'
  /** Closes the connection without an answer. */
  | 'hang up'
  /** Sends half of the promised body and keeps the connection open. */
  | { readonly half: string }
  /** Sends half of the promised body and closes the connection. */
  | { readonly cut: string };

/** A server on a unix socket that answers as a faulty Docker Engine. */
export interface StrangeDocker {
  readonly docker: Docker;
  readonly socketPath: string;
  /** Every request so far, `GET /containers/json?all=true`. */
  readonly requests: readonly string[];
  /** Closes every open connection. */
  hangUp(): void;
  stop(): Promise<void>;
}

/** Calls `answer` for each request with method and path, once the body is complete. */
export async function startStrangeDocker(
  answer: (request: string, body: string) => StrangeAnswer | Promise<StrangeAnswer>,
): Promise<StrangeDocker> {
  const folder = mkdtempSync(join(tmpdir(), 'strange-docker-'));
  const socketPath = join(folder, 'docker.sock');
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const line = `${request.method} ${request.url}`;
    requests.push(line);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => {
      void Promise.resolve(answer(line, Buffer.concat(chunks).toString())).then((answered) =>
        reply(answered, request, response),
      );
    });
  });
  server.listen(socketPath);
  await once(server, 'listening');
  return {
    docker: new Docker({ socketPath }),
    socketPath,
    requests,
    hangUp: () => server.closeAllConnections(),
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function reply(answer: StrangeAnswer, request: IncomingMessage, response: ServerResponse): void {
  if (answer === 'silence') return;
  if (answer === 'hang up') {
    request.socket.destroy();
    return;
  }
  if ('status' in answer) {
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
    return;
  }
  const text = 'half' in answer ? answer.half : answer.cut;
  response.writeHead(200, { 'content-length': String(text.length * 2) }).write(text, () => {
    if ('cut' in answer) request.socket.end();
  });
}
