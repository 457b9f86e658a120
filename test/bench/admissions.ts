/** How long an admission takes, compared with the same plain Docker calls without any checks. */

import { setTimeout as sleep } from 'node:timers/promises';
import type Docker from 'dockerode';
import { systemClock } from '../../src/time/system-clock.js';
import type { Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { startRedis, type TestRedis } from '../support/services/redis.js';
import { figures, ms, sideBySide, spread, timed, times, type Figures, type Row } from './figures.js';

let names = 0;
const LIMITS = { ulimits: { memlock: 65_536 } };

/** Removes everything that ran between two rounds, outside the measured time. */
async function clear(engine: Engine): Promise<void> {
  for (const { Id } of await engine.docker.listContainers({ all: true })) {
    await engine.docker.getContainer(Id).remove({ force: true });
  }
}

/** The body that the gate would send, so that both send the same to Docker. */
async function bodyOf(engine: Engine, gate: Gate): Promise<Docker.ContainerCreateOptions> {
  const name = `like-${names++}`;
  await gate.post('/admit', jobToPost(name, 1, LIMITS));
  const made = await engine.docker.getContainer(`tuneplane-${name}`).inspect();
  await clear(engine);
  return {
    Image: made.Config.Image,
    Cmd: made.Config.Cmd,
    Labels: made.Config.Labels,
    Env: made.Config.Env,
    HostConfig: made.HostConfig,
  };
}

/** That many plain creates and starts in parallel, and one look: both `nvidia-smi` runs and a list. */
async function plain(engine: Engine, gate: Gate, body: Docker.ContainerCreateOptions, count: number): Promise<void> {
  await gate.get('/metrics');
  await Promise.all(
    Array.from({ length: count }, async () => {
      const container = await engine.docker.createContainer({ ...body, name: `plain-${names++}` });
      await container.start();
    }),
  );
}

async function admitMany(gate: Gate, count: number): Promise<void> {
  const answers = await Promise.all(
    Array.from({ length: count }, () => gate.post('/admit', jobToPost(`job-${names++}`, 1, LIMITS))),
  );
  const failed = answers.find(({ status }) => status !== 201);
  if (failed) throw new Error(`expected ${count} admissions, and got ${failed.text}`);
}

async function rounds(
  engine: Engine,
  gate: Gate,
  count: number,
  number: number,
): Promise<{ ours: Figures; theirs: Figures; ratio: Figures }> {
  const body = await bodyOf(engine, gate);
  const pairs: [number, number][] = [];
  for (let round = 0; round < number; round++) {
    const ours = await timed(() => admitMany(gate, count));
    await clear(engine);
    const theirs = await timed(() => plain(engine, gate, body, count));
    await clear(engine);
    if (round > 0) pairs.push([ours, theirs]);
  }
  return {
    ours: figures(pairs.map(([a]) => a)),
    theirs: figures(pairs.map(([, b]) => b)),
    ratio: figures(pairs.map(([a, b]) => a / b)),
  };
}

export async function eightAdmissions(engine: Engine): Promise<Row[]> {
  const settings = { TUNEPLANE_SCRAPE_MAX_AGE_MS: '0' };
  const gate = await startGate({ engine, settings });
  const claim = await rounds(engine, gate, 8, 8);
  await gate.stop();
  const through = await startGate({ engine, settings: { ...settings, TUNEPLANE_LOCK_THROUGH: 'start' } });
  const start = await rounds(engine, through, 8, 5);
  await through.stop();
  return [
    {
      what: '8 one-card admissions at once, 8 free cards',
      against: 'the same 8 containers by plain Docker calls side by side, plus one look',
      measured: `${spread(claim.ratio, times)} times; ${ms(claim.ours.median)} against ${ms(claim.theirs.median)}`,
      mark: 'at most 1.3',
      met: claim.ratio.median <= 1.3,
    },
    {
      what: 'the same with `TUNEPLANE_LOCK_THROUGH=start`',
      against: 'the same',
      measured: `${spread(start.ratio, times)} times; ${ms(start.ours.median)}`,
      mark: 'none; for comparison',
      met: true,
    },
  ];
}

export async function oneAdmission(engine: Engine): Promise<Row> {
  const gate = await startGate({ engine, settings: { TUNEPLANE_SCRAPE_MAX_AGE_MS: '0' } });
  const { ours, theirs, ratio } = await rounds(engine, gate, 1, 16);
  await gate.stop();
  return {
    what: '1 admission',
    against: 'plain create and start, plus one look',
    measured: `${spread(ratio, times)} times; ${ms(ours.median)} against ${ms(theirs.median)}`,
    mark: 'at most 1.1',
    met: ratio.median <= 1.1,
  };
}

interface HundredJobs {
  readonly tookMs: number;
  /** How many each gate did. */
  readonly by: readonly number[];
  /** The longest wait of a job, from its first request until Docker created its container. */
  readonly longestWaitMs: number;
  /** The longest wait from the first request to the answer that it runs. */
  readonly longestMs: number;
}

/** Each gate always has waiting requests: eight callers in all, who retry until their job is admitted. */
async function hundredJobs(engine: Engine, gates: readonly Gate[], total: number): Promise<HundredJobs> {
  const by = gates.map(() => 0);
  const askedAt = new Map<string, number>();
  let left = total;
  let longestMs = 0;
  const round = names++;
  const caller = async (at: number): Promise<void> => {
    while (left > 0) {
      const mine = left--;
      const runId = `short-${round}-${mine}`;
      const began = performance.now();
      askedAt.set(runId, Date.now());
      for (;;) {
        const answer = await gates[at]!.post('/admit', jobToPost(runId, 1, { ...LIMITS, command: ['true'] }));
        if (answer.status === 201) break;
        if (answer.status !== 200) throw new Error(answer.text);
        await sleep(50);
      }
      by[at] = (by[at] ?? 0) + 1;
      longestMs = Math.max(longestMs, performance.now() - began);
    }
  };
  const callers = gates.flatMap((_, at) => Array.from({ length: 8 / gates.length }, () => caller(at)));
  const tookMs = await timed(() => Promise.all(callers));
  const waits = await Promise.all(
    Array.from(askedAt, async ([runId, at]) => {
      const { Created } = await engine.docker.getContainer(`tuneplane-${runId}`).inspect();
      return Date.parse(Created) - at;
    }),
  );
  return { tookMs, by, longestMs, longestWaitMs: Math.max(...waits) };
}

export async function twoGates(engine: Engine): Promise<Row> {
  const redis: TestRedis = await startRedis();
  const settings = { TUNEPLANE_PROCESSES: '2' };
  const gates = await Promise.all([1, 2].map(() => startGate({ engine, redisUrl: redis.url, settings })));
  const ratios: number[] = [];
  let least = Infinity;
  let [longestWaitMs, longestMs] = [0, 0];
  for (let round = 0; round < 3; round++) {
    const two = await hundredJobs(engine, gates, 100);
    await clear(engine);
    const one = await hundredJobs(engine, gates.slice(0, 1), 100);
    await clear(engine);
    ratios.push(two.tookMs / one.tookMs);
    least = Math.min(least, ...two.by);
    longestWaitMs = Math.max(longestWaitMs, two.longestWaitMs);
    longestMs = Math.max(longestMs, two.longestMs);
  }
  await Promise.all(gates.map((gate) => gate.stop()));
  await redis.stop();
  const ratio = figures(ratios);
  return {
    what: '100 short jobs by two gates that share a Redis, both always with more waiting',
    against: 'one gate doing all 100',
    measured: `${spread(ratio, times)} times; the lesser gate did ${least}; the longest wait was ${ms(longestWaitMs)} to the create, ${ms(longestMs)} to the answer that it runs`,
    mark: 'at most 1.3, each at least 35, at most 3 s',
    met: ratio.median <= 1.3 && least >= 35 && longestWaitMs <= 3000,
  };
}

export async function manyContainers(engine: Engine): Promise<Row> {
  const body = { Image: engine.image, Cmd: ['sleep', '600'] };
  for (let made = 0; made < 480; made += 8) {
    await Promise.all(
      Array.from({ length: 8 }, () => engine.docker.createContainer({ ...body, Labels: { made: String(made) } })),
    );
  }
  for (let made = 0; made < 20; made += 4) {
    await Promise.all(Array.from({ length: 4 }, async () => (await engine.docker.createContainer(body)).start()));
  }
  const { createDockerBooks } = await import('../../src/runtime/docker/books.js');
  const clock = systemClock;
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const books = createDockerBooks({ docker: engine.docker, clock, log });
  await books.list();
  const { ours, theirs, ratio } = await sideBySide(
    25,
    () => books.list(),
    () => engine.docker.listContainers({ all: true }),
  );
  await clear(engine);
  return {
    what: 'a look at 500 containers, 20 of them foreign and running',
    against: 'one plain container list',
    measured: `${spread(ratio, times)} times; ${ms(ours.median)} against ${ms(theirs.median)}`,
    mark: 'at most 1.3 after the first',
    met: ratio.median <= 1.3,
  };
}
