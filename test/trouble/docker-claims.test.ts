import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LABEL } from '../../src/model/labels.js';
import { startDockerProxy, type DockerProxy, type Treatment } from '../support/docker/docker-proxy.js';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { by } from '../support/metrics-page.js';

/** A real engine that fails, hangs or dies in the middle of a claim: what was created is started once, or it is gone. */

/** For a start and for the grace, where they are short. */
const SHORT_S = 1;

let engine: Engine;
let proxy: DockerProxy;
let gate: Gate;

beforeAll(async () => {
  engine = await startEngine();
  proxy = await startDockerProxy(engine.socketPath);
  gate = await startOne('20', '60');
});

/** `graceS` is for what a gate created and never started. */
const startOne = (startS: string, graceS: string) =>
  startGate({
    engine: proxy,

    settings: {
      TUNEPLANE_START_TIMEOUT_S: startS,
      TUNEPLANE_CLAIM_GRACE_S: graceS,
      TUNEPLANE_ADMIT_TIMEOUT_S: '5',
      TUNEPLANE_SCRAPE_MAX_AGE_MS: '0',
    },
  });

afterEach(async () => {
  proxy.treat(() => 'pass');
  engine.hook('pass');
  for (const { Id } of await containers()) await engine.docker.getContainer(Id).remove({ force: true });
  await gate.emptyLine();
});
afterAll(async () => {
  await gate?.stop();
  await proxy?.stop();
  await engine?.stop();
});

const containers = () => engine.docker.listContainers({ all: true });
const post = async (runId: string, count = 1) => {
  const { status, body } = await gate.post('/admit', jobToPost(runId, count));
  return { status, ...(body as { decision?: string }) };
};
const isStart = (what: string) => /^POST .*\/start$/.test(what);
const isCreate = (what: string) => what === 'POST /containers/create';
const isList = (what: string) => what === 'GET /containers/json';
const free = async () => (await gate.cards()).counts.free;

/** The first request that fits is treated so, all others pass. */
function once(fits: (what: string) => boolean, treatment: Treatment): void {
  let done = false;
  proxy.treat((what) => {
    if (done || !fits(what)) return 'pass';
    done = true;
    return treatment;
  });
}

/** When a request fits, the engine dies before it sees it; others are held back from then on. */
async function dieAt(fits: (what: string) => boolean): Promise<() => Promise<void>> {
  let killed: Promise<void> | null = null;
  proxy.treat((what) => {
    if (killed === null && fits(what)) killed = engine.kill();
    return killed === null ? 'pass' : { delayMs: 100 };
  });
  return async () => {
    await killed;
    expect(killed).not.toBeNull();
    await engine.restart();
    proxy.treat(() => 'pass');
  };
}

describe('an engine that dies', () => {
  test.each<[string, () => (what: string) => boolean, number]>([
    ['before the create', () => isCreate, 0],
    [
      'between the create and the list after it',
      () => {
        let created = false;
        return (what) => {
          created ||= isCreate(what);
          return created && isList(what);
        };
      },
      1,
    ],
    ['before the start', () => isStart, 1],
  ])(
    '%s is 503, shows no card as free, and the same request is started once when it is back',
    async (_says, fits, left) => {
      const backAgain = await dieAt(fits());
      const answer = await post('train');
      expect(answer).toMatchObject({ status: 503, code: 'docker_unavailable', retryable: true });
      expect((await gate.cards()).counts).toMatchObject({ free: 0, unknown: 8 });

      await backAgain();
      expect(await containers()).toHaveLength(left);
      await expect.poll(free, { timeout: 20_000 }).toBe(8 - left);
      expect(await post('train')).toMatchObject({ decision: 'admitted', gpus: [0] });
      expect(await containers()).toMatchObject([{ State: 'running', Names: ['/tuneplane-train'] }]);
    },
  );
});

describe('a create', () => {
  test('that happens after its connection broke is found and gone on with', async () => {
    once(isCreate, { cutThenMs: 700 });
    expect(await post('train')).toMatchObject({ status: 201, gpus: [0] });
    expect(await containers()).toMatchObject([{ State: 'running' }]);
  });

  test('that happens long after it was given up is not started, and the next request removes it and decides anew', async () => {
    once(isCreate, { cutThenMs: 7000 });
    expect(await post('train')).toMatchObject({ status: 502, code: 'create_failed', rolled_back: false });
    expect(await free()).toBe(8);
    // Meanwhile its card goes to another, which verifies before it starts.
    expect(await post('other')).toMatchObject({ status: 201, gpus: [0] });
    await expect.poll(containers, { timeout: 20_000 }).toHaveLength(2);
    expect(await post('train')).toMatchObject({ status: 201, gpus: [1] });
    const live = await containers();
    expect(live.map(({ State }) => State)).toEqual(['running', 'running']);
  });

  test('whose name belongs to something else is refused, and that is left alone', async () => {
    const { id } = await engine.docker.createContainer({ name: 'tuneplane-train', Image: engine.image, Cmd: ['true'] });
    const answer = await post('train');
    expect(answer).toMatchObject({ status: 502, code: 'create_failed', retryable: true });
    expect(answer).toMatchObject({ detail: expect.stringContaining('the name tuneplane-train is taken') });
    expect(await containers()).toMatchObject([{ Id: id, State: 'created' }]);
  });
});

describe('a start', () => {
  test('that fails leaves no container, is told in the words of the engine, and is counted on its cards', async () => {
    engine.hook({ failWith: 'nvidia-container-cli: device error: GPU-0: unknown device' });
    const answer = await post('train', 2);
    expect(answer).toMatchObject({ status: 502, code: 'start_failed', rolled_back: true, retryable: true });
    expect(answer).toMatchObject({ daemon_message: expect.stringContaining('unknown device') });
    expect(await containers()).toEqual([]);
    expect(await free()).toBe(8);
    const failures = by(await gate.metrics(), 'tuneplane_gpu_card_start_failures_total', 'index');
    expect(failures).toMatchObject({ 0: 1, 1: 1, 2: 0 });
    engine.hook('pass');
    expect(await post('train', 2)).toMatchObject({ status: 201 });
  });
});

describe('books that are kept badly', () => {
  const create = (Labels: Record<string, string>, name?: string) =>
    engine.docker.createContainer({ ...(name ? { name } : {}), Image: engine.image, Cmd: ['true'], Labels });

  test('two claims on one card are both shown, and neither is touched', async () => {
    await create({ [LABEL.gpus]: '1', [LABEL.runId]: 'first' });
    await create({ [LABEL.gpus]: '1,2', [LABEL.runId]: 'second' });
    await expect.poll(free).toBe(6);
    const { cards } = await gate.cards();
    expect(cards.map(({ claims }) => claims)).toEqual([0, 2, 1, 0, 0, 0, 0, 0]);
    const page = await gate.metrics();
    expect(by(page, 'tuneplane_gpu_card_claims', 'index')).toMatchObject({ 0: 0, 1: 2, 2: 1 });
    expect(by(page, 'tuneplane_gpu_cards', 'state')).toMatchObject({ job_held: 2, free: 6 });
    expect(await post('train', 7)).toMatchObject({ decision: 'wait', free: 6 });
    expect(await containers()).toHaveLength(2);
  });

  test('labels with nonsense hold what can be read of them, and break nothing', async () => {
    const odd = [
      'x',
      '-1',
      '99',
      '1e1',
      '0x1',
      '3;4',
      ' ',
      ',,,',
      'GPU-of-another-machine',
      '\u0000',
      '𝟜',
      '5'.repeat(100_000),
    ];
    await Promise.all(odd.map((gpus) => create({ [LABEL.gpus]: gpus, [LABEL.runId]: `odd "${gpus}\\\n` })));
    await create({ [LABEL.gpus]: ' 6 , six,6' }, 'spaced');
    await create({ [LABEL.gpuUuids]: 'none of yours', [LABEL.gpus]: '7' });
    await create({ [LABEL.runId]: '../../etc/passwd', [LABEL.admittedAt]: 'yesterday', [LABEL.specSha256]: '' });
    await create({ [LABEL.specSha256]: 'f'.repeat(64), [LABEL.runId]: '', [LABEL.admittedAt]: 'NaN' });

    const states = async () => (await gate.cards()).cards.map(({ state }) => state);
    await expect.poll(states).toEqual([...Array<string>(6).fill('free'), 'job_held', 'job_held']);
    const { counts } = await gate.cards();
    expect(counts).toMatchObject({ free: 6, job_held: 2, unknown: 0 });
    expect(by(await gate.metrics(), 'tuneplane_gpu_cards', 'state')).toMatchObject({ free: 6, job_held: 2 });
    const { body } = await gate.get('/runs');
    expect((body as { runs: unknown[] }).runs).toHaveLength(odd.length + 3);
    const dry = await gate.post('/admit?dry_run=true', jobToPost('train', 6));
    expect(dry.body).toMatchObject({ decision: 'would_admit', gpus: [0, 1, 2, 3, 4, 5] });
    expect(gate.stderr()).not.toMatch(/"level":(?:50|60)/);
  });
});

describe('where start and grace are short, a claim', () => {
  beforeAll(async () => {
    await gate.stop();
    gate = await startOne(String(SHORT_S), String(SHORT_S));
  });

  test('whose engine died before its start is gone after the grace, when nobody asks again', async () => {
    const backAgain = await dieAt(isStart);
    expect(await post('train')).toMatchObject({ status: 503 });
    await backAgain();
    expect(await containers()).toMatchObject([{ State: 'created' }]);
    await expect.poll(free, { timeout: 20_000 }).toBe(8);
    expect(await containers()).toEqual([]);
  });

  test('whose create happened long after it was given up is gone after the grace, when nobody asks again', async () => {
    once(isCreate, { cutThenMs: 2300 });
    expect(await post('train')).toMatchObject({ status: 502 });
    await expect.poll(containers).toHaveLength(1);
    await expect.poll(containers).toEqual([]);
    expect(await free()).toBe(8);
  });

  test('whose start takes long is answered 202 in time to all who ask, holds its card, and then is replayed', async () => {
    engine.hook('hang');
    const began = performance.now();
    const all = await Promise.all(Array.from({ length: 5 }, () => post('train')));
    expect(all.map(({ status, decision }) => `${status} ${String(decision)}`)).toEqual(all.map(() => '202 starting'));
    // Not one start after the other.
    expect(performance.now() - began).toBeLessThan(4 * SHORT_S * 1000);
    expect(await free()).toBe(7);
    expect(await post('other')).toMatchObject({ status: 202, gpus: [1] });
    // Longer than the grace: a start that is under way here is nobody's left-over.
    await sleep(SHORT_S * 1000 + 1500);
    expect(await containers()).toHaveLength(2);
    engine.hook('pass');
    for (const run of ['train', 'other']) {
      await expect.poll(() => post(run)).toMatchObject({ decision: 'admitted', replayed: true });
    }
    expect((await containers()).map(({ State }) => State)).toEqual(['running', 'running']);
  });

  test('whose start takes long and then fails can be asked for, gives its card back, and may be tried again', async () => {
    engine.hook('hang');
    expect(await post('train')).toMatchObject({ status: 202, decision: 'starting' });
    engine.hook({ failWith: 'no such device' });
    await expect.poll(async () => (await gate.get('/runs/train')).body).toMatchObject({ state: 'start_failed' });
    await expect.poll(free).toBe(8);
    expect(await containers()).toEqual([]);
    engine.hook('pass');
    await expect.poll(() => post('train')).toMatchObject({ decision: 'admitted' });
  });
});
