import { Router } from 'express';
import { afterEach, expect, test } from 'vitest';
import { createMetricsOnlyApp } from '../../src/app.js';
import { openDoor } from '../../src/http/auth.js';
import { methodNotAllowed } from '../../src/http/errors.js';
import { listen, type Listening } from '../../src/http/listen.js';
import { OPERATIONS } from '../../src/openapi/operations.js';
import { collect, REQUEST, startGate } from './gate.js';

const open: Listening[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((listening) => listening.close(0)));
});

test.each([
  '/nothing',
  '/admit/',
  '/Admit',
  '/runs/',
  '/runs/a/b',
  '/cards/GPU-0',
  '/cards/GPU-0/eject',
  '/metrics/x',
  '/page/',
  '/page/none.js',
])('there is nothing at %s', async (path) => {
  const gate = await startGate();
  const response = await fetch(gate.url + path);
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({
    code: 'not_found',
    detail: expect.stringContaining(JSON.stringify(path)),
  });
});

const paths = [...new Set(OPERATIONS.map(({ path }) => path))];

test.each(paths)('%s refuses other methods and says which it knows', async (path) => {
  const gate = await startGate();
  const known = OPERATIONS.filter((operation) => operation.path === path).map(({ method }) => method.toUpperCase());
  const allow = known.includes('GET') ? ['GET', 'HEAD', ...known.filter((method) => method !== 'GET')] : known;
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((each) => !allow.includes(each))) {
    const response = await fetch(gate.url + path.replace('{run_id}', 'a').replace('{uuid}', 'GPU-0'), { method });
    expect([method, response.status]).toEqual([method, 405]);
    expect(response.headers.get('allow')).toBe(allow.join(', '));
    expect(await response.json()).toMatchObject({ code: 'method_not_allowed' });
  }
});

test('a path that cannot be decoded is the caller’s mistake', async () => {
  const gate = await startGate();
  const response = await fetch(`${gate.url}/runs/%E0%A4%A`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ code: 'invalid_request' });
  expect(gate.logged).toEqual([]);
});

test('every answer forbids what a browser could do with it, and nothing says what it is made with', async () => {
  const gate = await startGate();
  for (const response of [await fetch(`${gate.url}/cards`), await fetch(`${gate.url}/x`), await gate.post(REQUEST)]) {
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect([response.headers.get('x-powered-by'), response.headers.get('etag')]).toEqual([null, null]);
  }
});

test('HEAD is GET without a body', async () => {
  const gate = await startGate();
  const response = await fetch(`${gate.url}/cards`, { method: 'HEAD' });
  expect([response.status, await response.text()]).toEqual([200, '']);
});

test('the process answers, and says part by part whether it could decide', async () => {
  const gate = await startGate();
  expect(await (await fetch(`${gate.url}/healthz`)).json()).toEqual({ ok: true });
  const part = { ok: true, detail: null };
  const ready = await fetch(`${gate.url}/readyz`);
  expect(ready.status).toBe(200);
  expect(await ready.json()).toEqual({
    ready: true,
    parts: { runtime: part, lock: part, probe: part, draining: part, files: part },
  });
  gate.ready = false;
  const notReady = await fetch(`${gate.url}/readyz`);
  expect(notReady.status).toBe(503);
  expect(await notReady.json()).toMatchObject({ ready: false, parts: { lock: { ok: false, detail: 'not now' } } });
});

test('the listener for metrics serves three paths whatever Host is asked, and nothing else', async () => {
  const app = createMetricsOnlyApp({
    headers: openDoor,
    scrapers: openDoor,
    metrics: (door) =>
      Router()
        .get('/metrics', ...door, (_req, res) => {
          res.type('text/plain').send('up 1\n');
        })
        .all('/metrics', methodNotAllowed('GET', 'HEAD')),
    readiness: () => {
      const part = { ok: true, detail: null };
      return Promise.resolve({
        ready: true,
        parts: { runtime: part, lock: part, probe: part, draining: part, files: part },
      });
    },
    log: collect([]),
  });
  const listening = await listen(app, [{ kind: 'tcp', host: '127.0.0.2', port: 0 }]);
  open.push(listening);
  const [address] = listening.addresses;
  const url = `http://127.0.0.2:${address?.kind === 'tcp' ? address.port : 0}`;
  for (const path of ['/metrics', '/healthz', '/readyz']) expect((await fetch(url + path)).status).toBe(200);
  expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405);
  for (const { path, method } of OPERATIONS.filter(({ role }) => role !== null)) {
    expect((await fetch(url + path, { method: method.toUpperCase() })).status).toBe(404);
  }
});
