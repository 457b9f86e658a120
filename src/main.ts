/** Builds the real parts from the settings, runs them, and takes them down in order. The only place that ends the process. */

import type { Express } from 'express';
import { createDesk, type Desk } from './admission/admissions.js';
import { openAudit } from './http/audit.js';
import { createPolicy } from './policy/policy.js';
import { readiness, readinessBy } from './http/readiness.js';
import { createRuns } from './runs/runs.js';
import { createWatch } from './observe/observer.js';
import { listen, type Listening } from './http/listen.js';
import { createLog } from './log/log.js';
import { createTurnQueue } from './lock/queue.js';
import { createMeter } from './metrics/meter.js';
import { createProcessMetrics } from './metrics/process-metrics.js';
import type { Clock, Log } from './model/ports.js';
import { CannotStart, openKeys, openLock, openRules, openRuntime, openState } from './wire.js';
import { createLastSeen } from './page/last-seen.js';
import { rememberDecisions } from './page/recent-decisions.js';
import { createEyes } from './probe/look.js';
import { createNvidiaSmi } from './probe/nvidia-smi/nvidia-smi.js';
import { tellChanges } from './observe/log-changes.js';
import { sweepLeftOvers } from './runtime/left-overs.js';
import { unclaimedByGates } from './observe/foreign-claims.js';
import { tellingHands } from './runtime/notifying-hands.js';
import { writeAddress } from './settings/addresses.js';
import { readBuild } from './settings/build.js';
import type { Settings } from './settings/settings.js';

const clock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** How long a request waits for an image that is being pulled, before it is told to come again. */
const PULL_WAIT_MS = 2000;
/** How long `/cards` and `/readyz` wait for a probe before they show it as blind. */
const LOOK_WITHIN_MS = 5000;
const SWEEP_EVERY_MS = 30_000;
/** What is left of open connections after the admissions have ended. */
const CLOSE_GRACE_MS = 2000;

/** Runs the gate until a signal ends it, then ends the process: 0 after SIGTERM or SIGINT, 1 where it cannot start. */
export async function runGate(settings: Settings, warnings: readonly string[]): Promise<void> {
  const log = createLog({ level: settings.logLevel, format: settings.logFormat });
  for (const warning of warnings) log.warn({}, warning);
  try {
    const gate = await buildGate(settings, log);
    const listening = await open(gate, settings, log);
    const signal = await untilSignal();
    log.info({ signal }, 'no new admissions from now on; ending those under way');
    const ended = await gate.desk.drain(settings.drainTimeoutS * 1000);
    if (!ended) log.warn({}, 'some admissions had not ended in time; what they created is in the books');
    await Promise.all(listening.map((each) => each.close(CLOSE_GRACE_MS)));
    await gate.close();
    log.info({}, 'ended');
    process.exit(0);
  } catch (error) {
    if (error instanceof CannotStart) log.error({}, error.message);
    else log.error({ err: error }, 'the gate cannot go on');
    process.exit(1);
  }
}

interface Gate {
  readonly desk: Desk;
  readonly app: Express;
  readonly metricsApp: Express;
  close(): Promise<void>;
}

async function buildGate(settings: Settings, log: Log): Promise<Gate> {
  const startedAtMs = clock.now();
  const build = readBuild();
  const keys = await openKeys(settings, log);
  const rules = await openRules(settings, log);
  const audit = rememberDecisions(openAudit(settings.auditFile, log));
  const state = await openState(settings, clock, log);
  const { books, ...runtime } = await openRuntime(settings, state.folder, clock, log);
  const meter = createMeter(clock, { ...build });
  const lock = await openLock(settings, clock, log, meter);
  const hands = tellingHands(runtime.hands, () => eyes.outdated());
  const warnOfOlderAgents = settings.redisUrl === null ? unclaimedByGates(log) : null;
  const tell = tellChanges(log);
  const lastSeen = createLastSeen();
  const eyes = createEyes({
    smi: createNvidiaSmi({
      program: settings.nvidiaSmi,
      timeoutMs: settings.probeTimeoutS * 1000,
      checkHealth: settings.localCheckGpuHealth,
      clock,
      log,
    }),
    books,
    cardBook: state.cards,
    clock,
    log,
    checkExternal: settings.localCheckExternalGpus,
    checkHealth: settings.localCheckGpuHealth,
    limitMs: settings.probeTimeoutS * 1000 + 2000,
    onLook(snapshot) {
      meter.looked(snapshot);
      lastSeen.looked(snapshot);
      tell(snapshot);
      warnOfOlderAgents?.(snapshot);
    },
  });
  const watch = createWatch(
    eyes,
    {
      memoryBusyMib: settings.memoryBusyMib,
      configuredCount: settings.localGpuCount,
      checkExternal: settings.localCheckExternalGpus,
      checkHealth: settings.localCheckGpuHealth,
      clusterProfile: settings.clusterProfile,
      excludeCards: settings.excludeCards,
    },
    settings.scrapeMaxAgeMs,
  );
  // So that the first scrape and the first admission find the topology and the field names known; and so that the programs run
  // while Express is loaded, which takes as long as they do.
  void watch.recent(LOOK_WITHIN_MS);
  const { createApp, createMetricsOnlyApp } = await import('./app.js');
  const { metricsRoutes } = await import('./metrics/routes.js');
  const { createPage } = await import('./page/page.js');
  const desk = createDesk({
    watch,
    rejudge: watch.rejudge,
    books,
    hands,
    cardBook: state.cards,
    lock,
    clock,
    meter,
    log,
    random: Math.random,
    makeQueue: (serve) =>
      createTurnQueue({
        lock,
        maxWaiting: settings.maxWaiting,
        clock,
        serve,
        onReleased: (seconds) => meter.lockHeldFor(seconds),
      }),
    settings: {
      instanceId: state.instanceId,
      admitWhenBlind: settings.admitWhenBlind,
      admitTimeoutMs: settings.admitTimeoutS * 1000,
      startTimeoutMs: settings.startTimeoutS * 1000,
      pullWaitMs: PULL_WAIT_MS,
      lockThrough: settings.lockThrough,
    },
  });
  const metrics = metricsRoutes({
    watch,
    status: () => desk.status(),
    meter,
    process: createProcessMetrics(),
    holders: settings.metricsHolders,
    log,
  });
  const readyParts = { lock, admissions: desk, admitWhenBlind: settings.admitWhenBlind };
  const ready = () => readiness({ watch, ...readyParts }, LOOK_WITHIN_MS);
  const app = createApp({
    keys,
    version: build.version,
    metrics,
    readiness: ready,
    admissions: desk,
    runtime: settings.runtime,
    policy: createPolicy({ rules, forbidden: runtime.forbidden, runtime: settings.runtime }),
    runs: createRuns({ books, hands, cardBook: state.cards, launches: desk.launches }),
    watch,
    book: state.cards,
    meter,
    audit,
    clock,
    log,
    lookWithinMs: LOOK_WITHIN_MS,
    page: createPage({
      watch,
      lock,
      clock,
      lastSeen,
      startedAtMs,
      admissions: desk,
      decisions: audit,
      readiness: (watched) => readinessBy(watched, readyParts),
      lookWithinMs: LOOK_WITHIN_MS,
      version: build.version,
    }),
  });

  const sweep = (): void =>
    void sweepLeftOvers(
      {
        books,
        hands,
        meter,
        log,
        instanceId: state.instanceId,
        startedAtMs,
        graceMs: settings.claimGraceS * 1000,
        adopted: desk.launches.adopted,
      },
      clock.now(),
    ).catch((error: unknown) => log.error({ err: error }, 'a sweep for left-over containers failed'));
  sweep();
  const sweeping = setInterval(sweep, Math.min(SWEEP_EVERY_MS, Math.max(1000, settings.claimGraceS * 250)));
  return {
    desk,
    app,
    metricsApp: createMetricsOnlyApp({ metrics, readiness: ready, log }),
    async close() {
      clearInterval(sweeping);
      await lock.close();
      await state.close();
    },
  };
}

async function open(gate: Gate, settings: Settings, log: Log): Promise<readonly Listening[]> {
  try {
    // First what only reads: where it cannot listen, nobody has been let in to admit anything yet.
    const metrics = settings.metricsListen === null ? null : await listen(gate.metricsApp, settings.metricsListen);
    const main = await listen(gate.app, settings.listen);
    log.info({ listen: main.addresses.map(writeAddress), metrics: metrics?.addresses.map(writeAddress) }, 'listening');
    return metrics === null ? [main] : [main, metrics];
  } catch (error) {
    throw new CannotStart((error as Error).message, { cause: error });
  }
}

/** Ctrl-C under npm comes twice, from the terminal and from npm: what follows this soon is the same wish. */
const SAME_WISH_MS = 500;

/** SIGTERM from a service manager, SIGINT from a terminal; a second one ends the process at once. */
function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let askedAt: number | null = null;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (askedAt !== null && clock.monotonic() - askedAt > SAME_WISH_MS) process.exit(1);
        askedAt ??= clock.monotonic();
        resolve(signal);
      });
    }
  });
}
