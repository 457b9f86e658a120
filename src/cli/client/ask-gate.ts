/** One request to a running gate, over TCP or a unix socket, with a token if one is configured. */

import { readFileSync, statSync } from 'node:fs';
import { request as requestHttp, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import { TOKEN_FILE_VARIABLE } from '../../settings/client-variables.js';
import { gateAddress, type GateAddress } from './gate-address.js';
import { readTlsFiles, type TlsFileOptions, type TlsFiles } from './tls-files.js';
import { unreachableWords } from './unreachable-words.js';

/** The response. `body` is the parsed JSON, or the text where it is not JSON. */
export type GateSaid =
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfterS: number | null; readonly body: unknown }
  /** No complete response; the gate may have carried out the request all the same, or may still do so. */
  | { readonly kind: 'unreachable'; readonly detail: string };

export interface Question {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Sent as JSON. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly limitMs?: number;
  /** Cancels the request when it aborts. */
  readonly signal?: AbortSignal;
}

export interface Gate {
  /** For people. */
  readonly written: string;
  ask(path: string, question?: Question): Promise<GateSaid>;
  /** A response whose body is read as it comes. Every answer but 200 is read as a whole. */
  open(path: string, signal: AbortSignal): Promise<Opened>;
}

export type Opened = { readonly kind: 'stream'; readonly stream: AsyncIterable<Buffer> } | GateSaid;

/** The options that every command of this kind has. */
export interface GateOptions extends TlsFileOptions {
  readonly url?: string;
  readonly tokenFile?: string;
}

/** A client for the gate, or what is wrong with the options. Does not connect yet. */
export type FoundGate =
  | { readonly kind: 'found'; readonly gate: Gate; readonly warnings: readonly string[] }
  | { readonly kind: 'problem'; readonly detail: string };

export function findGate(options: GateOptions, env: Readonly<Record<string, string | undefined>>): FoundGate {
  const address = gateAddress(options.url, env);
  if (address.kind === 'problem') return address;
  const tokenFile = options.tokenFile ?? env[TOKEN_FILE_VARIABLE];
  const token = tokenFile === undefined || tokenFile === '' ? null : readToken(tokenFile);
  if (token?.kind === 'problem') return token;
  const tls = readTlsFiles(options, env);
  if (tls.kind === 'problem') return tls;
  const gate = {
    written: address.written,
    ask: (path: string, how?: Question) => ask({ address, token: token?.token ?? null, tls: tls.files }, path, how),
    open: (path: string, signal: AbortSignal) =>
      openStream({ address, token: token?.token ?? null, tls: tls.files }, path, signal),
  };
  return { kind: 'found', gate, warnings: token?.warnings ?? [] };
}

type ReadToken =
  | { readonly kind: 'token'; readonly token: string; readonly warnings: readonly string[] }
  | { readonly kind: 'problem'; readonly detail: string };

/** Whatever is wrong with the file, its content is never printed. */
function readToken(path: string): ReadToken {
  try {
    const token = readFileSync(path, 'utf8').trim();
    if (!/^[A-Za-z0-9._~+/-]+=*$/.test(token)) {
      return { kind: 'problem', detail: `${path}: expected a token alone, as \`gpu-gate token new\` shows it` };
    }
    const mode = statSync(path).mode & 0o777;
    const open = (mode & 0o004) !== 0;
    return {
      kind: 'token',
      token,
      warnings: open ? [`${path} can be read by everybody (mode ${mode.toString(8)}); chmod 0600 it`] : [],
    };
  } catch (error) {
    return { kind: 'problem', detail: `the token cannot be read: ${(error as Error).message}` };
  }
}

const LIMIT_MS = 15_000;
const MOST_BYTES = 16 * 1024 * 1024;

/** The address, and the credentials to send. */
interface Target {
  readonly address: GateAddress;
  readonly token: string | null;
  readonly tls: TlsFiles;
}

async function ask(target: Target, path: string, how: Question = {}): Promise<GateSaid> {
  const limit = AbortSignal.timeout(how.limitMs ?? LIMIT_MS);
  try {
    return await exchange(target, path, how, limit);
  } catch (error) {
    const detail = limit.aborted
      ? `no complete answer within ${(how.limitMs ?? LIMIT_MS) / 1000} s`
      : unreachableWords(error);
    return { kind: 'unreachable', detail: `no gate answers at ${target.address.written}: ${detail}` };
  }
}

function exchange(
  { address, token, tls }: Target,
  path: string,
  { method = 'GET', body, headers = {}, signal }: Question,
  limit: AbortSignal,
): Promise<GateSaid> {
  const options: RequestOptions = {
    method,
    agent: false,
    signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
    headers: {
      ...headers,
      accept: 'application/json',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    },
  };
  return new Promise((resolve, reject) => {
    const sent = send(address, path, options, tls);
    sent.once('error', reject);
    sent.once('response', (response: IncomingMessage) => void read(response).then(resolve, reject));
    sent.end(body);
  });
}

/** The limit is for the beginning of the answer. */
async function openStream({ address, token, tls }: Target, path: string, signal: AbortSignal): Promise<Opened> {
  const limit = new AbortController();
  const callOff = setTimeout(() => limit.abort(), LIMIT_MS);
  const headers = { accept: 'text/plain', ...(token === null ? {} : { authorization: `Bearer ${token}` }) };
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = {
        method: 'GET',
        agent: false,
        signal: AbortSignal.any([signal, limit.signal]),
        headers,
      } as const;
      const sent = send(address, path, options, tls);
      sent.once('error', reject);
      sent.once('response', resolve);
      sent.end();
    });
    return response.statusCode === 200 ? { kind: 'stream', stream: response } : await read(response);
  } catch (error) {
    const detail = limit.signal.aborted ? `no answer within ${LIMIT_MS / 1000} s` : unreachableWords(error);
    return { kind: 'unreachable', detail: `no gate answers at ${address.written}: ${detail}` };
  } finally {
    clearTimeout(callOff);
  }
}

function send(address: GateAddress, path: string, options: RequestOptions, tls: TlsFiles) {
  if (address.kind === 'unix') return requestHttp({ ...options, socketPath: address.path, path });
  // Keeps a path prefix, as of a proxy.
  const url = new URL(address.url.href.replace(/\/$/, '') + path);
  return url.protocol === 'https:' ? requestHttps(url, { ...options, ...tls }) : requestHttp(url, options);
}

async function read(response: IncomingMessage): Promise<GateSaid> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Error(`it answered more than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  const retryAfter = Number(response.headers['retry-after'] ?? Number.NaN);
  return {
    kind: 'answered',
    status: response.statusCode ?? 0,
    retryAfterS: Number.isFinite(retryAfter) ? retryAfter : null,
    body: parsed(Buffer.concat(chunks).toString()),
  };
}

function parsed(text: string): unknown {
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    return text;
  }
}
