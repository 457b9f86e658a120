import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { call, type Answer, type Call } from '../support/call.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { parseMetrics } from '../support/metrics-page.js';
import { freePort } from '../support/services/redis.js';
import { makeTokens } from '../support/tokens.js';

/** Where a gate listens, and what it says there to whom: tokens, the listener for Prometheus alone, a unix socket. */

const folder = mkdtempSync(join(tmpdir(), 'listen-'));
const tokens = makeTokens({ console: 'admit', reader: 'read' });
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const codeOf = ({ status, body }: Answer) => [status, (body as { code?: string }).code];
const OPEN = ['/metrics', '/healthz', '/readyz'];
const CLOSED = ['/cards', '/runs', '/runs/train-17', '/openapi.json', '/status.json', '/nothing'];

describe('with a tokens file', () => {
  let gate: Gate;
  const started = async () => (gate ??= await startGate({ settings: { TUNEPLANE_TOKENS_FILE: tokens.path } }));

  test.each(OPEN)('GET %s asks for no token and takes any Host', async (path) => {
    await started();
    const answer = await gate.get(path, { host: 'gpu-17.lab.example' });
    // There is no Docker Engine here, so it is not ready, and says so.
    expect(answer.status).toBe(path === '/readyz' ? 503 : 200);
    expect((await gate.get(path, { authorization: 'Bearer wrong' })).status).toBe(answer.status);
  });

  test.each(CLOSED)('GET %s asks for one, known path or not', async (path) => {
    await started();
    expect(codeOf(await gate.get(path))).toEqual([401, 'unauthenticated']);
    expect(codeOf(await gate.get(path, { authorization: 'Bearer wrong' }))).toEqual([401, 'unauthenticated']);
  });

  test('the role read opens what is to be read, and the role admit does not', async () => {
    await started();
    expect((await gate.get('/cards', tokens.as('reader'))).status).toBe(200);
    expect((await gate.get('/openapi.json', tokens.as('reader'))).status).toBe(200);
    expect(codeOf(await gate.get('/cards', tokens.as('console')))).toEqual([403, 'forbidden']);
    expect(codeOf(await gate.get('/nothing', tokens.as('reader')))).toEqual([404, 'not_found']);
  });
});

describe('with a listener for metrics alone, on every address, and no tokens', () => {
  let gate: Gate;
  let port: number;
  /** From another address and by another name, as Prometheus comes. */
  const ask = (path: string, how: Call = {}) =>
    call(`http://127.0.0.2:${port}${path}`, { ...how, headers: { host: 'gpu-17.lab.example:9841', ...how.headers } });
  const started = async (): Promise<void> => {
    port ??= await freePort();
    gate ??= await startGate({ settings: { TUNEPLANE_METRICS_LISTEN: `0.0.0.0:${port}` } });
  };

  test('it serves the metrics, the health and the readiness', async () => {
    await started();
    const page = await ask('/metrics');
    expect(page.status).toBe(200);
    expect(parseMetrics(page.text).get('tuneplane_gpu_cards{state="unknown"}')).toBe(8);
    expect((await ask('/healthz')).body).toEqual({ ok: true });
    expect((await ask('/readyz')).status).toBe(503);
  });

  test.each(CLOSED)('it does not know %s', async (path) => {
    await started();
    expect(codeOf(await ask(path))).toEqual([404, 'not_found']);
  });

  test('nothing can be changed through it', async () => {
    await started();
    expect(codeOf(await ask('/admit', { method: 'POST', body: jobToPost('train') }))).toEqual([404, 'not_found']);
    expect(codeOf(await ask('/runs/train', { method: 'DELETE' }))).toEqual([404, 'not_found']);
    for (const path of OPEN) {
      const answer = await ask(path, { method: 'POST', body: {} });
      expect(codeOf(answer)).toEqual([405, 'method_not_allowed']);
      expect(answer.headers['allow']).toBe('GET, HEAD');
    }
    // An admission that never came to a door is none.
    const page = parseMetrics((await ask('/metrics')).text);
    expect([...page].filter(([series, value]) => series.includes('admissions_total') && value !== 0)).toEqual([]);
    expect(gate.audit()).toEqual([]);
  });

  test('another gate that is told to listen there says so and ends, before anybody was let in', async () => {
    await started();
    const settings = { TUNEPLANE_METRICS_LISTEN: `0.0.0.0:${port}` };
    await expect(startGate({ settings })).rejects.toThrow(
      new RegExp(`cannot listen on 0\\.0\\.0\\.0:${port}: another program listens there already`),
    );
    expect((await ask('/healthz')).status).toBe(200);
  });

  test('the main listener stays what it is: on this machine alone, by its own name', async () => {
    await started();
    expect((await gate.get('/cards')).status).toBe(200);
    expect(codeOf(await gate.get('/cards', { host: 'gpu-17.lab.example' }))).toEqual([403, 'forbidden']);
    await expect(call(gate.url.replace('127.0.0.1', '127.0.0.2'))).rejects.toThrow('ECONNREFUSED');
    expect(await gate.stop()).toEqual({ code: 0, signal: null });
    await expect(ask('/metrics')).rejects.toThrow('ECONNREFUSED');
  });
});

describe('on a unix socket', () => {
  const socketPath = join(folder, 'gate.sock');
  const ask = (path: string, how: Call = {}) => call(`http://anything${path}`, { ...how, socketPath });

  test('it serves its user and its group, under any Host and beside a port', async () => {
    const gate = await startGate({ alsoListen: [`unix:${socketPath}`] });
    expect(statSync(socketPath).mode & 0o777).toBe(0o660);
    expect((await ask('/cards', { headers: { host: 'evil.example' } })).status).toBe(200);
    expect((await gate.get('/cards')).status).toBe(200);
    expect(codeOf(await gate.get('/cards', { host: 'evil.example' }))).toEqual([403, 'forbidden']);
    // There is no Docker Engine here: it came as far as that.
    expect(codeOf(await ask('/admit', { method: 'POST', body: jobToPost('train') }))).toEqual([
      503,
      'docker_unavailable',
    ]);
    expect(await gate.stop()).toEqual({ code: 0, signal: null });
    expect(existsSync(socketPath)).toBe(false);
  });

  test('a socket that a killed gate left behind is no hindrance, one that a live gate serves is', async () => {
    const first = await startGate({ alsoListen: [`unix:${socketPath}`] });
    await first.kill();
    expect(existsSync(socketPath)).toBe(true);
    const second = await startGate({ alsoListen: [`unix:${socketPath}`] });
    await expect(startGate({ alsoListen: [`unix:${socketPath}`] })).rejects.toThrow(
      /gate\.sock.*listens there already/,
    );
    expect((await ask('/healthz')).status).toBe(200);
    await second.stop();
  });

  test('with a tokens file it asks for a token there too', async () => {
    const settings = { TUNEPLANE_TOKENS_FILE: tokens.path };
    const gate = await startGate({ settings, alsoListen: [`unix:${socketPath}`] });
    expect(codeOf(await ask('/cards'))).toEqual([401, 'unauthenticated']);
    expect((await ask('/cards', { headers: tokens.as('reader') })).status).toBe(200);
    await gate.stop();
  });
});
