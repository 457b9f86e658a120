import { createServer, request, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import express from 'express';
import { afterEach, describe, expect, test } from 'vitest';
import { openDoor } from '../../src/http/auth.js';
import { createMeter } from '../../src/metrics/meter.js';
import { metricsRoutes, type MetricsParts } from '../../src/metrics/routes.js';
import type { Observation } from '../../src/model/ports/eyes.js';
import { card, IDLE, watched } from './occupancies.js';
import { promtool, seriesOf } from './page.js';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A server with these parts on a free port of loopback. */
async function serve(parts: Partial<MetricsParts> = {}): Promise<number> {
  const app = express().use(
    metricsRoutes({
      observer: { recent: () => Promise.resolve(watched([card(0)])) },
      status: () => IDLE,
      meter: createMeter(),
      process: null,
      holders: false,
      cardsReserved: () => 0,
      ruleFiles: () => [],
      log: { error() {} },
      ...parts,
    })([openDoor]),
  );
  const server = createServer(app);
  servers.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

function get(port: number, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path: '/metrics', headers, method, agent: false }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('end', () => resolve({ status: res.statusCode, headers: res.headers, body: Buffer.concat(chunks) }));
    });
    asked.on('error', reject).end();
  });
}

test('the page comes as text 0.0.4, with its length and without an etag', async () => {
  const { status, headers, body } = await get(await serve());
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(headers['content-length']).toBe(String(body.length));
  expect(headers['etag']).toBeUndefined();
  expect(await promtool(body.toString())).toEqual({ code: 0, remarks: '' });
});

test('HEAD gets the same headers and no body', async () => {
  const port = await serve();
  const [head, full] = await Promise.all([get(port, {}, 'HEAD'), get(port)]);
  expect(head.status).toBe(200);
  expect(head.headers['content-length']).toBe(full.headers['content-length']);
  expect(head.body).toHaveLength(0);
});

describe('gzip', () => {
  test('is sent when asked for, and is the same page', async () => {
    const port = await serve();
    const [zipped, plain] = await Promise.all([get(port, { 'accept-encoding': 'gzip' }), get(port)]);
    expect(zipped.headers['content-encoding']).toBe('gzip');
    expect(zipped.headers['content-length']).toBe(String(zipped.body.length));
    expect(gunzipSync(zipped.body).toString()).toBe(plain.body.toString());
    expect(plain.headers['content-encoding']).toBeUndefined();
  });

  test('is not sent when refused', async () => {
    const { headers } = await get(await serve(), { 'accept-encoding': 'gzip;q=0, identity' });
    expect(headers['content-encoding']).toBeUndefined();
  });
});

test('scrapes that waited for one look share one page, and the next is made anew', async () => {
  const look = watched([card(0)]);
  const came: (() => void)[] = [];
  let [rendered, inFlight] = [0, 1];
  const status = () => ({ ...IDLE, inFlight: inFlight + rendered++ });
  const port = await serve({
    observer: { recent: () => new Promise((resolve) => came.push(() => resolve(look))) },
    status,
  });
  const asked = Array.from({ length: 50 }, (_, at) => get(port, at % 2 === 0 ? { 'accept-encoding': 'gzip' } : {}));
  await expect.poll(() => came.length).toBe(50);
  for (const arrive of came.splice(0)) arrive();
  const pages = (await Promise.all(asked)).map(({ headers, body }) =>
    (headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString(),
  );
  expect(new Set(pages).size).toBe(1);
  expect(rendered).toBe(1);
  inFlight = 7;
  const later = get(port);
  await expect.poll(() => came.length).toBe(1);
  came[0]?.();
  expect(seriesOf((await later).body.toString()).get('tuneplane_gpu_admissions_in_flight')).toBe('8');
});

describe('the time of a scrape', () => {
  test('is handed to the look, half a second less than Prometheus waits', async () => {
    const limits: number[] = [];
    const observer = {
      recent(withinMs: number): Promise<Observation> {
        limits.push(withinMs);
        return Promise.resolve(watched([card(0)]));
      },
    };
    const port = await serve({ observer });
    await get(port, { 'x-prometheus-scrape-timeout-seconds': '3' });
    await get(port);
    expect(limits).toEqual([2500, 9500]);
  });

  test('is kept even when the look does not: the page comes with the probes failed', async () => {
    const faults: object[] = [];
    const log = { error: (data: object): unknown => faults.push(data) };
    const port = await serve({ observer: { recent: () => new Promise<Observation>(() => {}) }, log });
    const { status, body } = await get(port, { 'x-prometheus-scrape-timeout-seconds': '0.7' });
    expect(status).toBe(200);
    expect(seriesOf(body.toString()).get('tuneplane_gpu_probe_success{probe="gpus"}')).toBe('0');
    expect(faults).toEqual([{ err: new Error('no look came within 200 ms') }]);
  });
});

describe('a fault of ours is logged and leaves a page', () => {
  test('when looking throws', async () => {
    const port = await serve({ observer: { recent: () => Promise.reject(new Error('our bug')) } });
    const { status, body } = await get(port);
    expect(status).toBe(200);
    expect(seriesOf(body.toString()).get('tuneplane_gpu_external_probe_ok')).toBe('0');
  });

  test('when the gate cannot say what it is busy with', async () => {
    const status = (): never => {
      throw new Error('our bug');
    };
    const answer = await get(await serve({ status }));
    expect(answer.status).toBe(200);
    expect(seriesOf(answer.body.toString()).get('tuneplane_gpu_cards{state="free"}')).toBe('1');
    expect(answer.body.toString()).not.toContain('tuneplane_gpu_lock_held');
  });
});
