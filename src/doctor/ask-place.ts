/** Who listens on an address meant for the gate: nobody, a gate, or another program. */

import { lstat } from 'node:fs/promises';
import { request as requestHttp, type RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import { connect, createServer } from 'node:net';
import type { ListenAddress } from '../settings/addresses.js';

export type Place =
  | { readonly kind: 'free' }
  /** Its `ready` answer, with the parts that are not ready. */
  | { readonly kind: 'gate'; readonly ready: boolean; readonly detail: string }
  | { readonly kind: 'taken' }
  /** The system does not allow anybody to listen there. */
  | { readonly kind: 'refused'; readonly detail: string };

/** A blind gate waits 5 s for its probe before it reports that. */
const ANSWER_MS = 7000;

/**
 * Checks who answers and, where nobody does, whether one could listen there: binds the address for a moment and releases it.
 */
export async function askPlace(address: ListenAddress): Promise<Place> {
  if (address.kind === 'tcp' && address.port === 0) return { kind: 'free' };
  if (await somebodyListens(address)) {
    const answers = await Promise.all([askGate(address, requestHttp), askGate(address, askHttps)]);
    return answers.find((answer) => answer !== null) ?? { kind: 'taken' };
  }
  if (address.kind === 'tcp') return tryToListen(address);
  // A stale socket file is removed at the start; anything else in its place is not.
  const stats = await lstat(address.path).catch(() => null);
  return stats === null || stats.isSocket() ? { kind: 'free' } : { kind: 'refused', detail: 'a file is in its place' };
}

function somebodyListens(address: ListenAddress): Promise<boolean> {
  return new Promise((resolve) => {
    const { socketPath: path, host, port } = wayTo(address);
    const socket = path === undefined ? connect({ host: host ?? '', port: Number(port) }) : connect({ path });
    socket.setTimeout(2000, () => socket.destroy(new Error('no answer')));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** `GET /readyz`, which requires no token and has parts that no other program names. Null: this is no gate. */
function askGate(address: ListenAddress, request: typeof askHttps): Promise<Place | null> {
  return new Promise((resolve) => {
    const asked = request({ ...wayTo(address), path: '/readyz', agent: false, signal: AbortSignal.timeout(ANSWER_MS) });
    asked.once('error', () => resolve(null));
    asked.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > 100_000) response.destroy();
      });
      response.once('error', () => resolve(null));
      response.once('close', () => resolve(gateIn(text)));
    });
    asked.end();
  });
}

/** The server is not verified: nothing confidential is sent, and nothing depends on the answer. */
function askHttps(options: RequestOptions) {
  return requestHttps({ ...options, rejectUnauthorized: false });
}

function gateIn(text: string): Place | null {
  try {
    const said = JSON.parse(text) as { ready?: unknown; parts?: Record<string, { ok?: unknown; detail?: string }> };
    if (typeof said.ready !== 'boolean' || said.parts?.['draining'] === undefined) return null;
    const missing = Object.entries(said.parts).filter(([, part]) => part.ok !== true);
    return {
      kind: 'gate',
      ready: said.ready,
      detail: missing.map(([name, part]) => `${name}: ${part.detail ?? 'no'}`).join('; '),
    };
  } catch {
    return null;
  }
}

function tryToListen({ host, port }: ListenAddress & { readonly kind: 'tcp' }): Promise<Place> {
  return new Promise((resolve) => {
    const server = createServer((caller) => caller.destroy());
    server.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'EADDRINUSE' ? { kind: 'taken' } : { kind: 'refused', detail: error.message }),
    );
    server.listen({ host, port }, () => server.close(() => resolve({ kind: 'free' })));
  });
}

/** Connects to a wildcard address through loopback. */
function wayTo(address: ListenAddress): RequestOptions & { readonly socketPath?: string } {
  if (address.kind === 'unix') return { socketPath: address.path };
  const host = { '0.0.0.0': '127.0.0.1', '::': '::1' }[address.host] ?? address.host;
  return { host, port: address.port };
}
