import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { by } from '../support/metrics-page.js';
import { startRedis, type TestRedis } from '../support/services/redis.js';

/** Two gate processes on one engine: with a Redis that they share, and with one each, so that both hold "the" lock at once. */

let engine: Engine;
let shared: TestRedis;
let own: TestRedis;
let gates: Gate[] = [];

beforeAll(async () => {
  [engine, shared, own] = await Promise.all([startEngine(), startRedis(), startRedis()]);
});
afterEach(async () => {
  await Promise.all(gates.map((gate) => gate.stop()));
  for (const { Id } of await engine.docker.listContainers({ all: true })) {
    await engine.docker.getContainer(Id).remove({ force: true });
  }
});
afterAll(async () => {
  await Promise.all([shared?.stop(), own?.stop()]);
  await engine?.stop();
});

async function twoGates(first: TestRedis, second: TestRedis): Promise<void> {
  const settings = { TUNEPLANE_PROCESSES: '2', TUNEPLANE_ADMIT_TIMEOUT_S: '60' };
  gates = await Promise.all([first, second].map(({ url }) => startGate({ engine, redisUrl: url, settings })));
}

/** Posts 20 one-card jobs at once, ten to each gate. */
function postTwenty(): Promise<{ status: number; decision: string; gpus?: number[] }[]> {
  return Promise.all(
    Array.from({ length: 20 }, async (_, at) => {
      const { status, body } = await gates[at % 2]!.post('/admit', jobToPost(`job-${at}`));
      return { status, ...(body as { decision: string; gpus?: number[] }) };
    }),
  );
}

/** The cards of each live container, by its device request: what it was really given. */
async function liveCards(): Promise<string[]> {
  const live = await engine.docker.listContainers();
  const inspected = await Promise.all(live.map(({ Id }) => engine.docker.getContainer(Id).inspect()));
  return inspected.flatMap(({ HostConfig }) => HostConfig.DeviceRequests?.[0]?.DeviceIDs ?? []);
}

test('20 admissions at once on 8 free cards: 8 on 8 different cards, 12 wait, and every page adds up', async () => {
  await twoGates(shared, shared);
  let done = false;
  const pages: number[] = [];
  const scraping = Promise.all(
    gates.map(async (gate) => {
      while (!done) {
        const states = by(await gate.metrics(), 'tuneplane_gpu_cards', 'state');
        pages.push(Object.values(states).reduce((sum, cards) => sum + cards, 0));
      }
    }),
  );
  const answers = await postTwenty();
  done = true;
  await scraping;

  const admitted = answers.filter(({ decision }) => decision === 'admitted');
  expect(admitted).toHaveLength(8);
  expect(new Set(admitted.flatMap(({ gpus }) => gpus)).size).toBe(8);
  expect(answers.filter(({ decision }) => decision === 'wait')).toHaveLength(12);
  expect(new Set(await liveCards()).size).toBe(8);
  expect(pages.length).toBeGreaterThan(2);
  expect(new Set(pages)).toEqual(new Set([8]));
  expect(await shared.client().exists('gpu-alloc:leader')).toBe(0);
});

test('with a Redis for each, so that both hold the lock: never two live containers on one card', async () => {
  await twoGates(shared, own);
  const answers = await postTwenty();
  const cards = await liveCards();
  expect(new Set(cards).size).toBe(cards.length);
  const admitted = answers.filter(({ decision }) => decision === 'admitted');
  expect(admitted.length).toBe(cards.length);
  expect(admitted.length).toBeGreaterThan(0);
  for (const { decision } of answers) expect(['admitted', 'wait']).toContain(decision);
  const left = await engine.docker.listContainers({ all: true, filters: { status: ['created'] } });
  expect(left).toEqual([]);
});

test('the same run posted to both at once is started once', async () => {
  await twoGates(shared, own);
  const both = await Promise.all(gates.map((gate) => gate.post('/admit', jobToPost('train'))));
  expect(both.map(({ body }) => (body as { decision: string }).decision)).toEqual(['admitted', 'admitted']);
  expect(await engine.docker.listContainers({ all: true })).toHaveLength(1);
});
