/**
 * A run is executed once: posted to two gates at once, with jobs that end at once, and with a gate that is frozen at each step of
 * its claim. Each execution writes a line into a volume, which is counted. `RUNS_ONCE_TRIALS=200` makes the long form.
 */

import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startDockerProxy, type DockerProxy } from '../support/docker/docker-proxy.js';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type Gate, type GateOptions } from '../support/gate.js';
import { jobToPost, type JobToPost } from '../support/jobs-to-post.js';
import { startRedis, type TestRedis } from '../support/services/redis.js';
import { stopProcess } from '../support/stop-process.js';
import { startRedisProxy } from '../trouble/redis-proxy.js';

const TRIALS = Number(process.env['RUNS_ONCE_TRIALS'] ?? '6');

let engine: Engine;
let redis: TestRedis;
let proxy: DockerProxy;
let proof: string;
const gates: Gate[] = [];

beforeAll(async () => {
  [engine, redis] = await Promise.all([startEngine(), startRedis()]);
  proxy = await startDockerProxy(engine.socketPath);
  proof = (await (await engine.docker.createVolume({ Name: 'proof' })).inspect()).Mountpoint;
});
afterEach(async () => {
  proxy.treat(() => 'pass');
  proxy.letGo();
  await Promise.all(gates.splice(0).map((gate) => gate.kill()));
  for (const { Id } of await engine.docker.listContainers({ all: true })) {
    await engine.docker.getContainer(Id).remove({ force: true });
  }
});
afterAll(async () => {
  await Promise.all([proxy?.stop(), redis?.stop()]);
  await engine?.stop();
});

async function gate(options: GateOptions = {}): Promise<Gate> {
  const settings = { TUNEPLANE_PROCESSES: '2', TUNEPLANE_LOCK_LEASE_MS: '3000', ...options.settings };
  const one = await startGate({ engine, redisUrl: redis.url, ...options, settings });
  gates.push(one);
  return one;
}

/** A job that says that it runs, and takes so long. */
function job(runId: string, seconds: number): JobToPost {
  const mounts = [{ type: 'volume', source: 'proof', target: '/proof', read_only: false }];
  const command = ['sh', '-c', `echo ran >> /proof/${runId}; sleep ${seconds}`];
  return jobToPost(runId, 1, { command, mounts });
}

function executions(runId: string): number {
  const file = `/proc/${engine.pid}/root${proof}/${runId}`;
  try {
    return readFileSync(file, 'utf8').trim().split('\n').length;
  } catch {
    return 0;
  }
}

const stateOf = async (runId: string): Promise<string[]> => {
  const found = await engine.docker.listContainers({ all: true, filters: { label: [`tuneplane.run_id=${runId}`] } });
  return found.map(({ State }) => State);
};

describe('posted to two gates at once', () => {
  const lengths = [0, 0.3, 1];
  const trials = Array.from({ length: TRIALS }, (_, at) => [`once-${at}`, lengths[at % lengths.length]!] as const);

  test(
    `${TRIALS} runs of 0, 0.3 and 1 s are each executed once, and one caller alone is told that it started it`,
    async () => {
      const [one, other] = [await gate(), await gate()];
      for (const [runId, seconds] of trials) {
        const answers = await Promise.all([one, other].map((each) => each.post('/admit', job(runId, seconds))));
        const told = answers.map(({ body }) => body as { decision: string; replayed?: boolean });
        const started = told.filter(({ decision, replayed }) => decision === 'admitted' && replayed === false);
        expect(started, JSON.stringify(told)).toHaveLength(1);
        const second = told.find((each) => each !== started[0]);
        expect(second?.replayed === true || ['ended', 'starting'].includes(second?.decision ?? '')).toBe(true);
        await expect.poll(() => stateOf(runId), { timeout: 20_000 }).toEqual(['exited']);
        expect(executions(runId)).toBe(1);
        // Asked again, by anybody: it has ended, and is not run again.
        expect((await other.post('/admit', job(runId, seconds))).body).toMatchObject({ decision: 'ended' });
      }
      expect(trials.map(([runId]) => executions(runId))).toEqual(trials.map(() => 1));
    },
    60_000 + TRIALS * 10_000,
  );
});

describe('a gate that is frozen past its lease while it waits for the answer to', () => {
  const settings = {
    TUNEPLANE_CLAIM_GRACE_S: '2',
    TUNEPLANE_ADMIT_TIMEOUT_S: '12',
    TUNEPLANE_LOCAL_GPU_COUNT: '1',
  };

  test.each([
    ['its look, under the lock', /^GET .*containers\/json$/, 3],
    ['its create', /^POST .*containers\/create$/, 1],
    ['its list after the create', /^GET .*containers\/json$/, 6],
    ['its look at the container before the start', /^GET .*containers\/[0-9a-f]{64}\/json$/, 1],
    ['its start', /^POST .*\/start$/, 1],
  ] as const)(
    '%s starts nothing a second time, and never two run on one card',
    async (_says, step, nth) => {
      const frozen = await gate({ engine: proxy, settings });
      let came = 0;
      const outcome = await staysOnce(`frozen-${step.source.replaceAll(/\W/g, '')}-${nth}`, frozen, {
        begin: () =>
          proxy.treat((what) => {
            if (step.test(what)) came += 1;
            return step.test(what) && came === nth ? 'hold answer' : 'pass';
          }),
        holds: () => proxy.holding === 1,
        letGo: () => proxy.letGo(),
      });
      expect(outcome).toEqual(ONCE);
    },
    180_000,
  );

  test.each(['acquire', 'release'] as const)(
    'its %s of the lock starts nothing a second time, and never two run on one card',
    async (command) => {
      const toRedis = await startRedisProxy(redis.port);
      const frozen = await gate({ redisUrl: toRedis.url, settings });
      let letGo = (): void => {};
      const held = new Promise<void>((resolve) => (letGo = resolve));
      let holds = false;
      const outcome = await staysOnce(`frozen-${command}`, frozen, {
        begin: () =>
          toRedis.treat((question) => {
            if (question !== command || holds) return 'pass';
            holds = true;
            return { after: held };
          }),
        holds: () => holds,
        letGo,
      });
      expect(outcome).toEqual(ONCE);
      await toRedis.stop();
    },
    180_000,
  );

  interface Outcome {
    readonly executed: number;
    readonly nextExecuted: number;
    /** The ends of the names of what runs. */
    readonly live: readonly string[];
  }
  const ONCE: Outcome = { executed: 1, nextExecuted: 1, live: ['-next'] };

  interface Step {
    /** From now on the first such step is held. */
    begin(): void;
    holds(): boolean;
    letGo(): void;
  }

  async function staysOnce(runId: string, frozen: Gate, step: Step): Promise<Outcome> {
    const other = await gate({ settings });
    step.begin();
    const first = frozen.post('/admit', job(runId, 0.2)).catch(() => null);
    await expect.poll(() => step.holds(), { timeout: 20_000 }).toBe(true);
    stopProcess(frozen.pid);

    // The other gate brings the run to its end, if it can, and gives the card to another job.
    await expect
      .poll(async () => ((await other.post('/admit', job(runId, 0.2))).body as { decision?: string }).decision, {
        timeout: 60_000,
        interval: 300,
      })
      .toBe('ended');
    const next = await other.post('/admit', job(`${runId}-next`, 600));
    expect(next.body).toMatchObject({ decision: 'admitted' });

    process.kill(frozen.pid, 'SIGCONT');
    step.letGo();
    await first;
    await expect.poll(() => stateOf(runId), { timeout: 20_000 }).not.toContain('created');
    const live = await engine.docker.listContainers();
    return {
      executed: executions(runId),
      nextExecuted: executions(`${runId}-next`),
      live: live.flatMap(({ Names }) => Names.map((name) => name.replace(`/tuneplane-${runId}`, ''))),
    };
  }
});
