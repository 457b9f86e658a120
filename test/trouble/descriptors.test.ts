import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call } from '../support/call.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { parseMetrics } from '../support/metrics-page.js';
import { freePort } from '../support/services/redis.js';
import { startFakeEngine, type FakeEngine } from './fake-engine.js';

/** A gate that has few descriptors, and one that has none left: a real one, under limits of the kernel. */

let docker: FakeEngine;
beforeAll(async () => {
  docker = await startFakeEngine();
});
afterAll(() => docker?.stop());

describe('with 160 descriptors, and 300 connections on each listener that say nothing', () => {
  let gate: Gate;
  let metricsUrl: string;
  const silent: Socket[] = [];
  beforeAll(async () => {
    metricsUrl = `http://127.0.0.1:${await freePort()}`;
    const settings = { TUNEPLANE_METRICS_LISTEN: new URL(metricsUrl).host };
    gate = await startGate({ engine: docker, settings, descriptors: 160 });
    for (const url of [gate.url, metricsUrl]) {
      for (let at = 0; at < 300; at += 1) silent.push(connect(Number(new URL(url).port), '127.0.0.1'));
    }
    for (const socket of silent) socket.on('error', () => undefined).resume();
    await Promise.all(silent.filter((socket) => socket.connecting).map((socket) => once(socket, 'connect')));
  });
  afterAll(async () => {
    for (const socket of silent) socket.destroy();
    await gate?.stop();
  });

  test('a scrape sees, on both listeners', async () => {
    for (const url of [gate.url, metricsUrl]) {
      const page = await call(new URL('/metrics', url));
      expect(page.status).toBe(200);
      expect(page.text).toContain('tuneplane_gpu_external_probe_ok 1');
    }
  });

  test('a request is decided', async () => {
    expect((await gate.post('/admit?dry_run=true', jobToPost('train', 2))).body).toMatchObject({
      decision: 'would_admit',
    });
  });

  test('the log says it once for each listener, and that fewer can wait than may', () => {
    const lines = gate.stderr().split('\n');
    expect(lines.filter((line) => line.includes('the most that it may have'))).toHaveLength(2);
    expect(lines.filter((line) => line.includes('each that waits has one'))).toHaveLength(1);
  });
});

describe('with no descriptor left', () => {
  /** One connection that is open before, and stays. */
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let gate: Gate;
  beforeAll(async () => {
    gate = await startGate({ engine: docker, settings: { TUNEPLANE_SCRAPE_MAX_AGE_MS: '0' } });
    // The first look has ended, and the next begins with the next scrape.
    await ask('GET', '/metrics');
  });
  afterAll(async () => {
    agent.destroy();
    await gate?.stop();
  });

  async function ask(method: string, path: string, body?: object): Promise<{ status: number; text: string }> {
    const headers = { 'content-type': 'application/json' };
    const sent = request(new URL(path, gate.url), { agent, method, headers });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response) text += String(chunk);
    return { status: response.statusCode ?? 0, text };
  }
  const allow = (descriptors: number) =>
    execFileSync('/usr/bin/prlimit', [`--pid=${gate.pid}`, `--nofile=${descriptors}:`]);

  test('a scrape is blind and says why, a request is told to come again, and the process lives', async () => {
    allow(3);
    const page = await ask('GET', '/metrics');
    expect(page.status).toBe(200);
    const series = parseMetrics(page.text);
    expect(series.get('tuneplane_gpu_external_probe_ok')).toBe(0);
    expect(series.get('tuneplane_gpu_probe_failures_total{probe="gpus",reason="spawn"}')).toBeGreaterThan(0);
    const cards = JSON.parse((await ask('GET', '/cards')).text) as {
      probes: { gpus: { why: string; detail: string } };
    };
    expect(cards.probes.gpus).toMatchObject({ why: 'spawn', detail: expect.stringContaining('are used up') });
    // Docker is reached where a connection to it is still open from before, and otherwise it is not.
    const answer = await ask('POST', '/admit', jobToPost('train', 2));
    expect(JSON.parse(answer.text)).toMatchObject(
      answer.status === 503
        ? { code: 'docker_unavailable', detail: expect.stringContaining('EMFILE') }
        : { decision: 'wait', reasons: [{ code: 'probe_blind' }] },
    );
    // Nobody can take this one now.
    const late = connect(Number(new URL(gate.url).port), '127.0.0.1').on('error', () => undefined);
    await once(late, 'connect');
    late.destroy();
    expect((await ask('GET', '/healthz')).status).toBe(200);
  });

  test('all is well again when there are some', async () => {
    allow(1024);
    expect((await ask('GET', '/metrics')).text).toContain('tuneplane_gpu_external_probe_ok 1');
    const dry = await gate.post('/admit?dry_run=true', jobToPost('train', 2));
    expect(dry.body).toMatchObject({ decision: 'would_admit' });
    expect(await gate.stop()).toEqual({ code: 0, signal: null });
  });
});
