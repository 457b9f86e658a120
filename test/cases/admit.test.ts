import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { cardIndex, cardUuid } from '../../src/model/card.js';
import { LABEL } from '../../src/model/labels.js';
import { containerSpec } from '../../src/runtime/docker/container-spec.js';
import { jobSpec } from '../support/admissions.js';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { by } from '../support/metrics-page.js';
import { startRedis, type TestRedis } from '../support/services/redis.js';
import { uuidOf } from './cards-of.js';

/** Requests that got what they should not, on a real engine and a real Redis. */

let engine: Engine;
let redis: TestRedis;
let gates: readonly Gate[] = [];

beforeAll(async () => {
  [engine, redis] = await Promise.all([startEngine(), startRedis()]);
  const settings = { TUNEPLANE_PROCESSES: '2', TUNEPLANE_ADMIT_TIMEOUT_S: '60' };
  gates = await Promise.all([0, 1].map(() => startGate({ engine, redisUrl: redis.url, settings })));
});
afterEach(async () => {
  for (const { Id } of await engine.docker.listContainers({ all: true })) {
    await engine.docker.getContainer(Id).remove({ force: true });
  }
  await Promise.all(gates.map((gate) => gate.emptyLine()));
});
afterAll(async () => {
  await Promise.all(gates.map((gate) => gate.stop()));
  await redis?.stop();
  await engine?.stop();
});

const containers = () => engine.docker.listContainers({ all: true });
const free = async () => by(await gates[0]!.metrics(), 'tuneplane_gpu_cards', 'state')['free'];

// A01, https://github.com/marin-community/marin/issues/6478
describe('a count of 0 became 1, and -1 raised the free total; Docker itself reads -1 as all GPUs', () => {
  test.each([
    ['-1', -1],
    ['1.5', 1.5],
    ['a text', '"2"'],
    ['an empty text', '""'],
    ['null', null],
    ['true', true],
    ['a list', '[1]'],
    ['an object', '{"n":1}'],
    ['the text NaN', '"NaN"'],
    ['the text 0x2', '"0x2"'],
    ['a number that no card has', '9007199254740993'],
  ])('%s is refused by name, and nothing is left of it', async (_says, count) => {
    const body = `{"run_id":"train","count":${count},"container":{"image":"gate-test:latest"}}`;
    const answer = await gates[0]!.post('/admit', body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 'invalid_request', retryable: false, errors: [{ pointer: '/count' }] });
    expect(await containers()).toEqual([]);
    expect(await redis.client().exists('gpu-alloc:leader')).toBe(0);
    expect(await free()).toBe(8);
  });

  test('none at all is refused by name, too', async () => {
    const answer = await gates[0]!.post('/admit', { run_id: 'train', container: { image: 'gate-test:latest' } });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ errors: [{ pointer: '/count' }] });
  });

  test('more than the box has is refused as that, and at once', async () => {
    const began = performance.now();
    const answer = await gates[0]!.post('/admit', jobToPost('train', 1e9));
    expect(answer.body).toMatchObject({ code: 'unsatisfiable' });
    expect((await gates[0]!.post('/admit', jobToPost('train', 9))).body).toMatchObject({ code: 'unsatisfiable' });
    expect(performance.now() - began).toBeLessThan(5000);
    expect(await containers()).toEqual([]);
    expect(await redis.client().exists('gpu-alloc:leader')).toBe(0);
  });

  test('0 is a job without cards: it gets none, and no card is less free for it', async () => {
    const answer = await gates[0]!.post('/admit', jobToPost('no-cards', 0));
    expect(answer.body).toMatchObject({ decision: 'admitted', gpus: [] });
    const { HostConfig, Id } = await engine.docker.getContainer('tuneplane-no-cards').inspect();
    expect(HostConfig.DeviceRequests ?? []).toEqual([]);
    expect((await engine.environOf(Id))['NVIDIA_VISIBLE_DEVICES']).toBe('void');
    expect(await free()).toBe(8);
  });
});

// A03, https://github.com/ROCm/container-toolkit/issues/73
test('two requests choose the same card, for nothing reserves it between looking and starting', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, nth) => {
      const { body } = await gates[nth % 2]!.post('/admit', jobToPost(`job-${nth}`));
      return body as { decision: string; gpus?: number[] };
    }),
  );
  const admitted = answers.filter(({ decision }) => decision === 'admitted');
  expect(admitted.flatMap(({ gpus = [] }) => gpus).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(answers.filter(({ decision }) => decision === 'wait')).toHaveLength(12);
  const listed = await containers();
  const given = await Promise.all(
    listed.map(
      async ({ Id }) => (await engine.docker.getContainer(Id).inspect()).HostConfig.DeviceRequests?.[0]?.DeviceIDs,
    ),
  );
  expect(new Set(given.flat()).size).toBe(8);
  // The labels are on each from its create on, so that it is seen to hold before the first byte of memory.
  for (const { Labels } of listed) expect(Labels[LABEL.gpuUuids]).toMatch(/^GPU-/);
  // Their cards show no memory at all, and are held.
  const { cards } = await gates[1]!.cards();
  expect(cards.map(({ state, memory_used_bytes }) => [state, memory_used_bytes])).toEqual(
    cards.map(() => ['job_held', 0]),
  );
});

test('a created container of ours that does not run yet holds its card', async () => {
  const { cards } = await gates[0]!.cards();
  await engine.docker.createContainer({
    name: 'tuneplane-soon',
    Image: engine.image,
    Cmd: ['sleep', '600'],
    Labels: { [LABEL.runId]: 'soon', [LABEL.gpuUuids]: cards[2]?.uuid ?? '' },
  });
  await expect
    .poll(async () => (await gates[0]!.cards()).cards[2])
    .toMatchObject({
      state: 'job_held',
      held_by: { run_id: 'soon', state: 'created' },
    });
});

// A05, https://github.com/oceanprotocol/ocean-node/pull/1076
describe('one device request per card gave a job part of its cards; a count beside ids is refused; indices mean other cards inside', () => {
  const chosen = [1, 3].map((index) => ({
    index: cardIndex(index),
    uuid: cardUuid(uuidOf(0x1a0 + index)),
    name: 'NVIDIA H100 80GB HBM3',
  }));
  const uuids = chosen.map(({ uuid }) => uuid);

  test('the body has one device request with the list of both uuids, and no count', () => {
    const grant = {
      cards: chosen,
      life: 'life-1',
      admittedBy: 'gate-a',
      admittedAt: '2026-11-29T12:00:00.000Z',
      principal: 'console',
      delegate: '',
    };
    const body = containerSpec(jobSpec('train', 2), grant);
    expect(body.HostConfig?.DeviceRequests).toEqual([{ Driver: 'nvidia', DeviceIDs: uuids, Capabilities: [['gpu']] }]);
    expect(body.Labels).toMatchObject({ [LABEL.gpuUuids]: uuids.join(','), [LABEL.gpus]: '1,3' });
    // The order of the bus, and of an image's own choice of cards nothing is left.
    expect(body.Env).toContain('CUDA_DEVICE_ORDER=PCI_BUS_ID');
    expect(body.Env).toContain(`NVIDIA_VISIBLE_DEVICES=${uuids.join(',')}`);
    expect(body.Env).toContain('CUDA_VISIBLE_DEVICES');
  });

  test('the job sees the two uuids and no number of the host', async () => {
    const busy = await gates[0]!.post('/admit', jobToPost('first', 1));
    expect(busy.body).toMatchObject({ decision: 'admitted' });
    const answer = await gates[0]!.post('/admit', jobToPost('train', 2));
    const { cards } = answer.body as { cards: { uuid: string }[] };
    const { Id } = await engine.docker.getContainer('tuneplane-train').inspect();
    const env = await engine.environOf(Id);
    expect(env['NVIDIA_VISIBLE_DEVICES']).toBe(cards.map(({ uuid }) => uuid).join(','));
    expect(env['CUDA_VISIBLE_DEVICES']).toBeUndefined();
  });
});
