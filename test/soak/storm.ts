/** Three gates, many callers, and faults in everything around them: the report. */

import { setTimeout as sleep } from 'node:timers/promises';
import { startDockerProxy, type DockerProxy } from '../support/docker/docker-proxy.js';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startRedis, type TestRedis } from '../support/services/redis.js';
import { caller, type CallerReport } from './callers.js';
import { faults } from './faults.js';
import { LIMITS, startParty, type Party } from './party.js';
import { dice, type Dice } from './random.js';
import { countStarts, type Starts } from './starts.js';
import { endOf, watch, type Watcher } from './watcher.js';

export interface StormReport {
  readonly seed: number;
  readonly seconds: number;
  readonly answers: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, number>>;
  readonly containersThatRan: number;
  readonly starts: number;
  readonly looksAtDocker: number;
  readonly pagesChecked: number;
  /** Each must be empty. */
  readonly offences: {
    readonly twoLiveContainersOnACard: readonly string[];
    readonly startedAgain: readonly string[];
    readonly runsExecutedAgain: readonly string[];
    readonly cardsHeldByNothingAtTheEnd: readonly string[];
    readonly admittedWithoutAContainer: readonly string[];
    readonly createdBeyondTheGrace: readonly string[];
    readonly freeThatWasNot: readonly string[];
    readonly gatesInTrouble: readonly string[];
  };
}

const CALLERS = 9;

/** The progress of a long run, for the person who watches. */
const tell = (sentence: string): void => void process.stderr.write(`${new Date().toISOString()} ${sentence}\n`);
/** A created container may live for its grace period, the next sweep and a restart of a gate. */
const CREATED_AT_MOST_MS = LIMITS.graceS * 1000 + 20_000;

export async function storm(seconds: number, seed: number): Promise<StormReport> {
  // Containers survive a restart of this engine, as on a machine that trains for days.
  const [engine, redis] = await Promise.all([startEngine({ flags: ['--live-restore'] }), startRedis()]);
  const proxy = await startDockerProxy(engine.socketPath);
  slowToCreate(proxy, redis, dice(seed + 1));
  const party = await startParty(proxy, redis.url);
  const watcher = watch(engine.docker, CREATED_AT_MOST_MS);
  const starts = countStarts(engine.docker);
  const until = Date.now() + seconds * 1000;
  const going = (): boolean => Date.now() < until;
  const report: CallerReport = { answers: {}, withoutContainer: [], free: [], deletes: new Map() };
  const counts: Record<string, number> = {};
  try {
    await Promise.all([
      faults({ party, engine, redis, dice: dice(seed) }, going, counts),
      ...Array.from({ length: CALLERS }, (_, at) =>
        caller(`c${at}`, report, { party, engine, watcher, dice: dice(seed * 100 + at), going }),
      ),
    ]);
    tell('the storm is over; waiting for the calm');
    const held = await afterwards(party, engine);
    tell(`the calm: ${held.join('; ') || 'all cards free, nothing left'}`);
    await watcher.stop();
    const codes = await party.stop();
    tell('the gates have ended');
    const ended = codes.filter((code) => code !== 0).map((code) => `a gate ended with ${code} on SIGTERM`);
    const whole = reportOf(held, ended);
    tell(JSON.stringify(whole));
    return whole;
  } catch (error) {
    // The counts so far are as valuable as the outcome.
    tell(`the storm broke off: ${JSON.stringify(reportOf([], []))}`);
    throw error;
  } finally {
    await starts.stop();
    await party.stop();
    await proxy.stop();
    await redis.stop();
    await engine.stop();
  }

  function reportOf(held: readonly string[], ended: readonly string[]): StormReport {
    return {
      seed,
      seconds,
      answers: report.answers,
      faults: counts,
      containersThatRan: [...watcher.lives.values()].filter(({ startedAt }) => startedAt !== null).length,
      starts: starts.total,
      looksAtDocker: watcher.looks,
      pagesChecked: report.free.length,
      offences: {
        twoLiveContainersOnACard: watcher.doubles(),
        startedAgain: starts.again(),
        runsExecutedAgain: executedAgain(report, starts),
        cardsHeldByNothingAtTheEnd: held,
        admittedWithoutAContainer: report.withoutContainer,
        createdBeyondTheGrace: watcher.stale(),
        freeThatWasNot: wronglyFree(report, watcher),
        gatesInTrouble: [...party.complaints(), ...ended],
      },
    };
  }
}

/** Runs that were started more often than once plus once per removal. */
function executedAgain({ deletes }: CallerReport, { ofRuns }: Starts): string[] {
  return [...ofRuns]
    .filter(([runId, starts]) => starts > 1 + (deletes.get(runId) ?? 0))
    .map(([runId, starts]) => `${runId} was started ${starts} times, and taken away ${deletes.get(runId) ?? 0} times`);
}

/**
 * One create in four is slow, and half of those lose the lock meanwhile: another gate then looks before the container
 * appears, which the second list is for. One in thirty loses its answer.
 */
function slowToCreate(proxy: DockerProxy, redis: TestRedis, chances: Dice): void {
  const client = redis.client();
  proxy.treat((what) => {
    if (what !== 'POST /containers/create') return 'pass';
    if (chances.chance(3)) return 'lose';
    if (!chances.chance(25)) return 'pass';
    if (chances.chance(50)) client.flushall().catch(() => {});
    return { delayMs: chances.between(50, 1500) };
  });
}

/** Waits until all is calm: every gate must show all cards free, and Docker no container in `created`. */
async function afterwards(party: Party, engine: Engine): Promise<string[]> {
  const patience = Date.now() + CREATED_AT_MOST_MS + 15_000;
  for (;;) {
    const pages = await Promise.all(party.all().map((gate) => gate.cards().catch(() => null)));
    const created = await engine.docker
      .listContainers({ all: true, filters: { status: ['created'] } })
      .catch(() => null);
    const held = pages.flatMap((page) => (page === null ? ['no page'] : page.counts.free === 8 ? [] : [page.explain]));
    const left = created === null ? ['no list'] : created.map(({ Names }) => `${Names[0] ?? '?'} is created`);
    if ((held.length === 0 && left.length === 0) || Date.now() > patience) return [...held, ...left];
    await sleep(500);
  }
}

/** A card that a page called free although a container lived on it from before the look until after the answer. */
function wronglyFree(report: CallerReport, watcher: Watcher): string[] {
  return report.free.flatMap(({ uuid, fromMs, toMs }) =>
    [...watcher.lives.values()]
      .filter((life) => life.uuids.includes(uuid) && (life.startedAt ?? Infinity) < fromMs && endOf(life) > toMs)
      .map(({ name }) => `${uuid} was shown free at ${fromMs} while ${name} ran`),
  );
}
