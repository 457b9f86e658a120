import { request as requestHttp, type IncomingHttpHeaders } from 'node:http';
import { request as requestHttps } from 'node:https';

/** The response. `body` is the parsed JSON if the content type says so, else the text. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: unknown;
}

/** The options of a request; a body that is not a string is sent as JSON, with its content type. */
export interface Call {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Hangs up when it aborts. */
  readonly signal?: AbortSignal;
  /** Through this unix socket, whatever host the URL names. */
  readonly socketPath?: string;
  /** For an https URL: whom to trust, and the client's own certificate; PEM. */
  readonly tls?: TlsTexts;
}

export interface TlsTexts {
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
}

/** No answer takes longer than lock, pull wait and start together, beyond the time for which it is held in line. */
const LONGEST_MS = 55_000;

/**
 * One HTTP request on a connection of its own. Not `fetch`: a test must be able to send any `Host`, any header and any body,
 * and to hang up. Rejects when the response is incomplete.
 */
export function call(url: string | URL, how: Call = {}): Promise<Answer> {
  const { method = 'GET', body, headers = {}, signal, socketPath, tls } = how;
  const request = new URL(url).protocol === 'https:' ? requestHttps : requestHttp;
  const [bytes, type] = written(body);
  const heldS = Number(/\bwait=(\d+)/.exec(headers['prefer'] ?? '')?.[1] ?? 0);
  const limit = AbortSignal.timeout(LONGEST_MS + heldS * 1000);
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method,
        headers: { ...type, ...headers },
        agent: false,
        ...tls,
        ...(socketPath === undefined ? {} : { socketPath }),
        signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () => {
          const text = Buffer.concat(chunks).toString();
          const isJson = /[/+]json\b/.test(response.headers['content-type'] ?? '');
          const parsed: unknown = isJson && text !== '' ? JSON.parse(text) : text;
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: parsed });
        });
      },
    );
    sent.once('error', reject);
    sent.end(bytes);
  });
}

function written(body: unknown): readonly [string | undefined, Readonly<Record<string, string>>] {
  if (body === undefined) return [undefined, {}];
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return [text, { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }];
}
