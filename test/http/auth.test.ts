import { createHash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { expect, test } from 'vitest';
import type { Keys } from '../../src/http/auth.js';
import { allowedHosts } from '../../src/http/host.js';
import { parseTokens } from '../../src/http/tokens-file.js';
import { OPERATIONS } from '../../src/openapi/operations.js';
import { REQUEST, startGate } from './gate.js';

const sha = (token: string): string => createHash('sha256').update(token).digest('hex');
const lines = ['admit', 'release', 'operate', 'read'].map((role) => `${role}-only:${sha(`${role}-token`)}:${role}`);
const parsed = parseTokens('t', lines.join('\n'), 0o600);
const entries = parsed.kind === 'good' ? parsed.value : [];
const keys: Keys = { kind: 'tokens', file: { current: () => Promise.resolve(entries) } };

const pathOf = (path: string): string => path.replace('{run_id}', 'train-17').replace('{uuid}', 'GPU-0');
const closed = OPERATIONS.filter(({ role }) => role !== null);

test.each(closed.map(({ method, path, role, alsoPass = [] }) => [method, path, role, alsoPass] as const))(
  'with tokens, %s %s asks for one, and for the role %s',
  async (method, path, role, alsoPass) => {
    const gate = await startGate({ keys });
    const call = (token?: string): Promise<Response> =>
      fetch(gate.url + pathOf(path), {
        method: method.toUpperCase(),
        headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
      });
    for (const token of [undefined, 'wrong', 'read-toke', '', 'a b']) {
      const response = await call(token);
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
      expect(await response.json()).toMatchObject({ code: 'unauthenticated', retryable: false });
    }
    const others = (['admit', 'release', 'operate', 'read'] as const).filter(
      (each) => each !== role && !alsoPass.includes(each),
    );
    for (const other of others) {
      const response = await call(`${other}-token`);
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({
        code: 'forbidden',
        detail: expect.stringContaining(`the role ${role}`),
      });
    }
    expect([401, 403]).not.toContain((await call(`${role}-token`)).status);
    expect([gate.calls, gate.removed.length]).toEqual([[], method === 'delete' ? 1 : 0]);
  },
);

test.each(['/metrics', '/healthz', '/readyz'])('with tokens, %s asks for none', async (path) => {
  const gate = await startGate({ keys });
  expect((await fetch(gate.url + path)).status).toBe(200);
});

test('with tokens, what does not exist asks for one as well', async () => {
  const gate = await startGate({ keys });
  expect((await fetch(`${gate.url}/secret`)).status).toBe(401);
  expect((await fetch(`${gate.url}/admit`)).status).toBe(401);
  const headers = { Authorization: 'bearer  read-token' };
  expect((await fetch(`${gate.url}/secret`, { headers })).status).toBe(404);
  expect((await fetch(`${gate.url}/admit`, { headers })).status).toBe(405);
});

test.each([
  ['no token', {}, 401, 'unauthenticated', '?'],
  ['a wrong token', { Authorization: 'Bearer x' }, 401, 'unauthenticated', '?'],
  ['another scheme', { Authorization: `Basic ${btoa('a:b')}` }, 401, 'unauthenticated', '?'],
  ['the role read', { Authorization: 'Bearer read-token' }, 403, 'forbidden', 'read-only'],
])(
  'an admission with %s is counted and written down, and nothing else happens',
  async (_says, headers, status, code, who) => {
    const gate = await startGate({ keys });
    expect((await gate.post(REQUEST, { headers })).status).toBe(status);
    expect(gate.outcomes).toEqual([code]);
    expect(gate.audit).toMatchObject([{ action: 'admit', principal: who, outcome: code }]);
    expect(gate.calls).toEqual([]);
  },
);

test('who asked is told to the admission and to the audit', async () => {
  const gate = await startGate({ keys });
  await gate.post(REQUEST, { headers: { Authorization: 'Bearer admit-token' } });
  expect(gate.calls[0]?.principal).toEqual({ name: 'admit-only', roles: ['admit'] });
  expect(gate.audit[0]?.principal).toBe('admit-only');
});

test('with tokens any Host will do', async () => {
  const gate = await startGate({ keys });
  expect(await statusWith(`${gate.url}/cards`, { Host: 'evil.example', Authorization: 'Bearer read-token' })).toBe(200);
});

test.each([
  ['the address listened on', '127.0.0.1:9840'],
  ['the address without a port', '127.0.0.1'],
  ['localhost', 'localhost'],
  ['localhost behind a tunnel', 'localhost:8080'],
  ['localhost in full', 'LocalHost.:80'],
  ['a host that the operator allows', 'gate.internal:1'],
])('without tokens the Host may be %s', async (_says, host) => {
  const gate = await startGate();
  expect(await statusWith(`${gate.url}/cards`, { Host: host })).toBe(200);
});

test.each([
  ['a name that was bound to this address', 'evil.example'],
  ['a name that ends like an allowed one', 'evil-localhost'],
  ['a name that begins like an allowed one', 'localhost.evil.example'],
  ['an address that is not listened on', '10.0.0.1:9840'],
  ['an allowed name with more to it', 'localhost:80@evil.example'],
])('without tokens the Host may not be %s, on any path', async (_says, host) => {
  const gate = await startGate();
  for (const path of ['/cards', '/metrics', '/healthz', '/openapi.json', '/nothing']) {
    expect(await statusWith(gate.url + path, { Host: host })).toBe(403);
  }
  expect(await statusWith(`${gate.url}/admit`, { Host: host }, 'POST')).toBe(403);
  expect([gate.outcomes, gate.calls]).toEqual([['forbidden'], []]);
});

test.each([
  ['the origin of another page', { Origin: 'http://evil.example' }],
  ['an origin that is hidden', { Origin: 'null' }],
  ['the word of the browser that it is another site', { 'Sec-Fetch-Site': 'cross-site' }],
])('without tokens a page in a browser cannot change anything: %s', async (_says, headers) => {
  const gate = await startGate();
  for (const action of ['include', 'forget']) {
    expect(await statusWith(`${gate.url}/cards/GPU-0/${action}`, headers, 'POST')).toBe(403);
  }
  expect(await statusWith(`${gate.url}/runs/train-17`, headers, 'DELETE')).toBe(403);
  expect(gate.removed).toEqual([]);
});

test("the gate's own page may", async () => {
  const gate = await startGate();
  const headers = { Origin: gate.url, 'Sec-Fetch-Site': 'same-origin' };
  expect(await statusWith(`${gate.url}/runs/train-17`, headers, 'DELETE')).toBe(204);
});

test('an allowed host with a port is allowed with that port alone', async () => {
  const hosts = allowedHosts([{ kind: 'tcp', host: '::1', port: 1 }], ['gate.internal:8443']);
  const gate = await startGate({ keys: { kind: 'open', hosts } });
  for (const [host, status] of [
    ['gate.internal:8443', 200],
    ['gate.internal:8444', 403],
    ['gate.internal', 403],
    ['[::1]:9840', 200],
    ['[::2]:9840', 403],
  ] as const) {
    expect(await statusWith(`${gate.url}/cards`, { Host: host })).toBe(status);
  }
});

/** `fetch` does not let a `Host` be set. */
function statusWith(url: string, headers: Record<string, string>, method = 'GET'): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const client = httpRequest(url, { method, headers }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode));
    });
    client.once('error', reject);
    client.end();
  });
}
