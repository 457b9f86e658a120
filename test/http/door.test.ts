import { Agent, request } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { createMetricsOnlyApp } from '../../src/app.js';
import { openDoor, type Keys } from '../../src/http/auth.js';
import { listen, type Listening } from '../../src/http/listen.js';
import { createMeter } from '../../src/metrics/meter.js';
import { metricsRoutes } from '../../src/metrics/routes.js';
import { OPERATIONS } from '../../src/openapi/operations.js';
import { collect, REQUEST, startGate } from './gate.js';
import { watchedMachine } from './machine.js';

/** Every path that the gate knows, in every spelling that a router, a proxy or a file system might take for it. */

const agent = new Agent({ keepAlive: true });
const open: Listening[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((listening) => listening.close(0)));
});

/** A tokens file, and nobody who has one of its tokens. */
const NOBODY: Keys = { kind: 'tokens', file: { current: async () => [] } };
const METHODS = ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS'];
/** What is open to everybody with data in it, and what is because there is none in it. */
const PUBLIC = new Set(['/metrics', '/healthz', '/readyz']);
const WITHOUT_DATA = new Set(
  OPERATIONS.filter(({ role, path }) => role === null && !PUBLIC.has(path)).map(({ path }) => filled(path)),
);
/** What only one who may read is to learn: of this machine, on its pages. */
const DATA = /c0ffee|vision|H100|tuneplane_gpu_cards|"parts"/;

const PATHS = [...new Set(OPERATIONS.map(({ path }) => filled(path)))];
const SPELLINGS: readonly (readonly [string, (path: string) => string])[] = [
  ['as it is', (path) => path],
  ['in capitals', (path) => path.toUpperCase()],
  ['with a capital at the start', (path) => path.replace(/[a-z]/, (letter) => letter.toUpperCase())],
  ['with a capital at the end', (path) => path.replace(/[a-z]$/, (letter) => letter.toUpperCase())],
  ['with a slash behind it', (path) => `${path}/`],
  ['with two slashes behind it', (path) => `${path}//`],
  ['with two slashes before it', (path) => `/${path}`],
  ['with every slash twice', (path) => path.replaceAll('/', '//')],
  ['with its first letter encoded', (path) => path.replace(/[a-z]/i, encoded)],
  ['with every letter encoded', (path) => path.replaceAll(/[^/]/g, encoded)],
  ['with its letters encoded twice', (path) => path.replaceAll(/[a-z]/gi, encoded).replaceAll('%', '%25')],
  ['with its slashes encoded', (path) => `/${path.slice(1).replaceAll('/', '%2f')}`],
  ['behind a dot', (path) => `/.${path}`],
  ['behind an encoded dot', (path) => `/%2e${path}`],
  ['behind two dots', (path) => `/healthz/..${path}`],
  ['behind two encoded dots', (path) => `/healthz/%2e%2e${path}`],
  ['behind a file of the page and two dots', (path) => `/page/main.js/..${path}`],
  ['with a dot behind it', (path) => `${path}/.`],
  ['with two dots behind it', (path) => `${path}/x/..`],
  ['with a backslash', (path) => path.replace('/', '/\\')],
  ['with a parameter', (path) => `${path};a=b`],
  ['with an encoded question', (path) => `${path}%3fa=b`],
  ['with a blank behind it', (path) => `${path}%20`],
  ['with NUL behind it', (path) => `${path}%00`],
  ['with half a character behind it', (path) => `${path}%e0%a4%a`],
];

describe.each(SPELLINGS)('a path %s', (_says, spelled) => {
  test('answers no data without a token, where there are tokens and it is none of the three', async () => {
    const gate = await startGate({ keys: NOBODY });
    const wrong = await wrongAnswers(gate.url, spelled, {}, ({ method, written, status, text }) => {
      const asks = method === 'GET' || method === 'HEAD';
      if (asks && PUBLIC.has(written)) return status === 200;
      if (asks && WITHOUT_DATA.has(written)) return !DATA.test(text);
      return [400, 401, 405].includes(status) && !DATA.test(text);
    });
    expect(wrong).toEqual([]);
    expect([gate.calls, gate.removed]).toEqual([[], []]);
  });

  test('is refused under a foreign Host, where there are none', async () => {
    const gate = await startGate();
    const foreign = { Host: 'evil.example' };
    const refused = ({ status, text }: Asked) => [400, 403].includes(status) && !DATA.test(text);
    expect(await wrongAnswers(gate.url, spelled, foreign, refused)).toEqual([]);
    expect([gate.calls, gate.removed]).toEqual([[], []]);
  });
});

test('what must not be told would be seen to be told', async () => {
  const gate = await startGate();
  for (const path of ['/metrics', '/readyz', '/cards', '/status.json']) {
    expect((await ask(gate.url, 'GET', path)).text).toMatch(DATA);
  }
});

test('a target that names a foreign host is refused as a Host is', async () => {
  const gate = await startGate();
  const { port } = new URL(gate.url);
  for (const path of ['/metrics', '/cards']) {
    expect((await ask(gate.url, 'GET', `http://evil.example${path}`)).status).toBe(403);
    expect((await ask(gate.url, 'GET', `HTTP://Evil.example:${port}${path}`)).status).toBe(403);
    expect((await ask(gate.url, 'GET', `http://localhost@evil.example${path}`)).status).toBe(403);
    expect((await ask(gate.url, 'GET', `http://localhost:${port}${path}`)).status).toBe(200);
  }
});

test('the listener for metrics alone knows its three paths as they are written, and nothing else', async () => {
  const part = { ok: true, detail: null };
  const app = createMetricsOnlyApp({
    headers: openDoor,
    scrapers: openDoor,
    metrics: metricsRoutes({
      observer: { recent: async () => watchedMachine() },
      status: () => ({
        inFlight: 0,
        lockWaiters: 0,
        lockHeld: false,
        redisUp: null,
        draining: false,
        line: { waiting: 0, oldestMs: null },
      }),
      meter: createMeter(),
      process: null,
      holders: false,
      cardsReserved: () => 0,
      ruleFiles: () => [],
      log: collect([]),
    }),
    readiness: async () => ({
      ready: true,
      parts: { runtime: part, lock: part, probe: part, draining: part, files: part },
    }),
    log: collect([]),
  });
  const listening = await listen(app, [{ kind: 'tcp', host: '127.0.0.1', port: 0 }]);
  open.push(listening);
  const [address] = listening.addresses;
  const url = `http://127.0.0.1:${address?.kind === 'tcp' ? address.port : 0}`;
  for (const [says, spelled] of SPELLINGS) {
    const wrong = await wrongAnswers(url, spelled, { Host: 'any.example' }, ({ method, written, status, text }) => {
      if (!PUBLIC.has(written)) return [400, 404].includes(status) && !DATA.test(text);
      return status === (method === 'GET' || method === 'HEAD' ? 200 : 405);
    });
    expect(wrong, says).toEqual([]);
  }
});

interface Asked {
  readonly method: string;
  readonly written: string;
  readonly status: number;
  readonly text: string;
}

/** Every path in this spelling by every method: what came that should not have. */
async function wrongAnswers(
  url: string,
  spelled: (path: string) => string,
  headers: Readonly<Record<string, string>>,
  isRight: (asked: Asked) => boolean,
): Promise<string[]> {
  const wrong: string[] = [];
  for (const written of PATHS.map(spelled)) {
    for (const method of METHODS) {
      const { status, text } = await ask(url, method, written, headers);
      if (!isRight({ method, written, status, text }))
        wrong.push(`${method} ${written}: ${status} ${text.slice(0, 200)}`);
    }
  }
  return wrong;
}

/** The path as it is written here, to the last character. */
function ask(
  url: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const { hostname, port } = new URL(url);
  const body = method === 'POST' ? JSON.stringify(REQUEST) : '';
  return new Promise((resolve, reject) => {
    const sent = request(
      { hostname, port, method, path, agent, headers: { 'Content-Type': 'application/json', ...headers } },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    sent.once('error', reject).end(body);
  });
}

function filled(path: string): string {
  return path.replace('{run_id}', 'train-17').replace('{uuid}', 'GPU-0').replace('{file}', 'main.js');
}

function encoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16)}`;
}
