import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { by } from '../support/metrics-page.js';

/** A card that the driver calls well and on which a start failed, on a real engine. */

let engine: Engine;
let gate: Gate;
beforeAll(async () => {
  engine = await startEngine();
  gate = await startGate({ engine });
});
afterAll(async () => {
  await gate?.stop();
  await engine?.stop();
});

const admit = (runId: string, count = 1) => gate.post('/admit', jobToPost(runId, count));

// https://github.com/pytorch/ci-infra/issues/1058
test('a card on which a start failed is picked last from then on, and every face says so', async () => {
  engine.hook({ failWith: 'nvidia-container-cli: device error: unknown device id' });
  expect((await admit('first')).body).toMatchObject({ code: 'start_failed', retryable: true, rolled_back: true });
  engine.hook('pass');

  const { cards, explain } = await gate.cards();
  expect(cards.map(({ failed_starts }) => failed_starts)).toEqual([1, 0, 0, 0, 0, 0, 0, 0]);
  expect(cards[0]?.state).toBe('free');
  expect(explain).toContain('none succeeded since, on card 0 (1): picked last');
  expect(by(await gate.metrics(), 'tuneplane_gpu_card_start_failures_total', 'index')['0']).toBe(1);

  expect((await admit('first')).body).toMatchObject({ decision: 'admitted', gpus: [1] });
  expect((await admit('pair', 2)).body).toMatchObject({ decision: 'admitted', gpus: [2, 3] });
  const answer = (await admit('the-rest', 5)).body;
  expect(answer).toMatchObject({ decision: 'admitted', gpus: [0, 4, 5, 6, 7] });
  expect((await gate.cards()).cards[0]?.failed_starts).toBe(0);
});
