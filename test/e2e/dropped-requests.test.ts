import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDockerProxy, type DockerProxy } from '../support/docker/docker-proxy.js';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';

/**
 * A compatible socket under another name: a real engine, which never gets to see the device requests.
 * https://github.com/docker/compose/issues/6691: an older API dropped them, and the job ran without a card.
 */

let engine: Engine;
let proxy: DockerProxy;
let gate: Gate;
beforeAll(async () => {
  engine = await startEngine();
  proxy = await startDockerProxy(engine.socketPath);
  gate = await startGate({ engine: { dockerHost: proxy.dockerHost } });
});
afterAll(async () => {
  await gate?.stop();
  await proxy?.stop();
  await engine?.stop();
});

const drop = (what: 'requests' | 'labels' | null) =>
  proxy.treat((asked) =>
    what !== null && asked === 'POST /containers/create'
      ? {
          changeBody(text) {
            const body = JSON.parse(text) as { HostConfig: { DeviceRequests?: unknown }; Labels?: unknown };
            if (what === 'requests') delete body.HostConfig.DeviceRequests;
            else delete body.Labels;
            return JSON.stringify(body);
          },
        }
      : 'pass',
  );
const admit = (runId: string, count = 1) => gate.post('/admit', jobToPost(runId, count));
const containers = () => engine.docker.listContainers({ all: true });
const runtimePart = async () => ((await gate.get('/readyz')).body as { parts: { runtime: object } }).parts.runtime;
const inspects = () => proxy.asked.filter((what) => /^GET \/containers\/[0-9a-f]{64}\/json$/.test(what)).length;

test('a container without the cards that were asked for is removed and never started, and readyz says why', async () => {
  drop('requests');
  expect(await runtimePart()).toMatchObject({ ok: true });
  const answer = await admit('train');
  expect(answer.status).toBe(422);
  expect(answer.body).toMatchObject({
    code: 'container_refused',
    retryable: false,
    rolled_back: true,
    detail: expect.stringMatching(/^this engine drops device requests/) as string,
  });
  expect(await containers()).toEqual([]);
  expect(proxy.asked.some((what) => what.endsWith('/start'))).toBe(false);
  expect((await gate.get('/readyz')).status).toBe(503);
  expect(await runtimePart()).toMatchObject({ ok: false, detail: expect.stringMatching(/drops device requests/) });
});

test('one that keeps no labels keeps no books, and starts nothing either', async () => {
  drop('labels');
  expect((await admit('unlabelled')).body).toMatchObject({
    code: 'container_refused',
    detail: expect.stringMatching(/drops labels/) as string,
  });
  expect(await containers()).toEqual([]);
});

test('one that keeps what it is asked for is compared once for each connection', async () => {
  drop(null);
  expect((await admit('first')).body).toMatchObject({ decision: 'admitted' });
  expect(await runtimePart()).toMatchObject({ ok: true });
  const after = inspects();
  expect((await admit('second')).body).toMatchObject({ decision: 'admitted' });
  // The one look right before the start.
  expect(inspects()).toBe(after + 1);
});

test('another engine behind the same socket is compared anew', async () => {
  await engine.restart();
  await expect.poll(async () => (await gate.get('/readyz')).status, { timeout: 20_000 }).toBe(200);
  drop('requests');
  expect((await admit('third')).body).toMatchObject({ code: 'container_refused' });
});
