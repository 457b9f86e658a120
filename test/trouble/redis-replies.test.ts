import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../lock/until.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { startRedis, type TestRedis } from '../support/services/redis.js';
import { startFakeEngine, type FakeEngine } from './fake-engine.js';
import { startRedisProxy, type Question, type RedisProxy, type RedisTreatment } from './redis-proxy.js';

/**
 * Whatever Redis answers to one of the three questions about the lock: nobody is let through on an answer that is no yes,
 * what was created stands, and service returns by itself. Each row has a gate, a key and an engine of its own.
 */

const ADMIT_S = 1;
const LEASE_MS = 60_000;

let redis: TestRedis;
let keysOf: ReturnType<TestRedis['client']>;
beforeAll(async () => {
  redis = await startRedis();
  keysOf = redis.client();
});
afterAll(() => redis?.stop());

interface Stage {
  readonly key: string;
  readonly docker: FakeEngine;
  readonly proxy: RedisProxy;
  readonly gate: Gate;
  post(runId: string): Promise<{ readonly status: number; readonly decision?: string }>;
  /** The first answer that is not 503, with what the last one was. */
  admittedSoon(runId: string): Promise<void>;
}

let keys = 0;

async function onStage(act: (stage: Stage) => Promise<void>): Promise<void> {
  const key = `gpu-alloc:leader-${(keys += 1)}`;
  const [docker, proxy] = await Promise.all([startFakeEngine(), startRedisProxy(redis.port)]);
  const gate = await startGate({
    engine: docker,
    redisUrl: proxy.url,

    settings: {
      TUNEPLANE_ADMIT_TIMEOUT_S: String(ADMIT_S),
      TUNEPLANE_LOCK_KEY: key,
      TUNEPLANE_LOCK_LEASE_MS: String(LEASE_MS),
    },
  });
  const post = async (runId: string) => {
    const { status, body } = await gate.post('/admit', jobToPost(runId));
    return { status, ...(body as { decision?: string }) };
  };
  const admittedSoon = async (runId: string) => {
    await until('the gate serves again', async () => (await post(runId)).decision === 'admitted', 15_000);
  };
  try {
    await act({ key, docker, proxy, gate, post, admittedSoon });
    expect(gate.stderr()).not.toContain('a request failed because of a bug in the gate');
  } finally {
    await gate.stop();
    await Promise.all([docker.stop(), proxy.stop()]);
  }
}

const to =
  (asked: Question, treatment: RedisTreatment) =>
  (question: Question): RedisTreatment =>
    question === asked ? treatment : 'pass';

async function refusedInTime({ post, docker }: Stage, runId: string): Promise<void> {
  const began = performance.now();
  expect(await post(runId)).toMatchObject({ status: 503, code: 'lock_unavailable', retryable: true });
  expect(performance.now() - began).toBeLessThan(ADMIT_S * 1000 + 3000);
  expect(docker.containers).toEqual([]);
}

const REPLIES = [
  "-READONLY You can't write against a read only replica.",
  '-LOADING Redis is loading the dataset in memory',
  '-MISCONF Redis is configured to save RDB snapshots, but it is currently not able to persist on disk.',
  "-OOM command not allowed when used memory > 'maxmemory'.",
  '-NOAUTH Authentication required.',
  '-WRONGPASS invalid username-password pair or user is disabled.',
  '-NOSCRIPT No matching script. Please use EVAL.',
] as const;

const answers: readonly (readonly [string, RedisTreatment])[] = [
  ...REPLIES.map((reply) => [reply.slice(1).split(' ')[0] ?? '', { reply }] as const),
  ['OK', { reply: '+OK' }],
];

describe('a Redis that answers', () => {
  test.concurrent.each(answers)('%s to one question', async (_word, answer) => {
    await onStage(async (stage) => {
      const { proxy, docker, gate, key, admittedSoon } = stage;
      // When the lock is to be taken: nobody is let through.
      proxy.treat(to('acquire', answer));
      await refusedInTime(stage, 'one');
      proxy.treat(() => 'pass');
      await admittedSoon('one');
      docker.containers.length = 0;

      // When it is to be confirmed, before the create: nothing is created.
      proxy.treat(to('renew', answer));
      await refusedInTime(stage, 'two');
      proxy.treat(() => 'pass');
      await admittedSoon('two');
      docker.containers.length = 0;

      // When it is to be given back: what was created stands, and the key is let go long before its time.
      proxy.treat(to('release', answer));
      expect(await stage.post('three')).toMatchObject({ decision: 'admitted' });
      proxy.treat(() => 'pass');
      await until('the key is let go', async () => (await keysOf.exists(key)) === 0, 15_000);
      await admittedSoon('four');
      expect(docker.containers.map(({ State }) => State)).toEqual(['running', 'running']);
      expect((await gate.metrics()).get('tuneplane_gpu_redis_up')).toBe(1);
    });
  });
});

describe('a key that goes away', () => {
  test('between the look and the create: the lock is taken anew, and the job is started once', async () => {
    await onStage(async ({ proxy, docker, gate, key, post }) => {
      let gone: Promise<unknown> | null = null;
      proxy.treat((question) => {
        // As Redis evicts it: the lock was taken, and its confirmation finds nothing.
        if (question !== 'renew' || gone !== null) return 'pass';
        gone = keysOf.del(key);
        return { after: gone };
      });
      expect(await post('train')).toMatchObject({ status: 201, gpus: [0] });
      expect(proxy.asked.filter((question) => question === 'renew')).toHaveLength(2);
      expect((await gate.metrics()).get('tuneplane_gpu_lock_lost_total')).toBe(1);
      expect(docker.containers).toMatchObject([{ State: 'running' }]);
    });
  });

  test('after the create: the claim stands, and the loss is counted', async () => {
    await onStage(async ({ docker, gate, key, post }) => {
      docker.misbehave((line) => {
        if (!line.startsWith('POST /containers/create')) return null;
        return keysOf.del(key).then(() => null);
      });
      expect(await post('train')).toMatchObject({ status: 201, gpus: [0] });
      expect((await gate.metrics()).get('tuneplane_gpu_lock_lost_total')).toBe(1);
      expect(gate.stderr()).toContain('the lock was lost: it was already gone when it was released');
    });
  });
});

describe("Redis' clock", () => {
  test.each([
    ['ahead', 3_600_000],
    ['back', -3_600_000],
  ])(
    'that jumps an hour %s, and then to where it was, holds nobody up and lets nobody in too early',
    async (_says, aheadMs) => {
      await onStage(async ({ proxy, docker, key, post }) => {
        const inTime = async (runId: string, gpu: number) => {
          const began = performance.now();
          expect(await post(runId)).toMatchObject({ status: 201, gpus: [gpu] });
          expect(performance.now() - began).toBeLessThan(3000);
        };
        await inTime('before', 0);
        proxy.treat(() => ({ aheadMs }));
        await inTime('meanwhile', 1);
        await keysOf.set(key, `${Date.now()}-0123456789abcdef`, 'PX', 60_000, 'NX');
        expect(await post('kept-out')).toMatchObject({ status: 503, code: 'lock_unavailable' });
        await keysOf.del(key);
        await inTime('kept-out', 2);
        proxy.treat(() => 'pass');
        await inTime('after', 3);
        expect(docker.containers).toHaveLength(4);
        expect(await keysOf.exists(key)).toBe(0);
      });
    },
  );
});
