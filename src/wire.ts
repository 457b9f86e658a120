/**
 * Builds the real parts from the settings, each by a function of its own, and connects them. Any reason why the gate cannot
 * start is one sentence.
 */

import { randomUUID } from 'node:crypto';
import type { Express } from 'express';
import { createAdmissions, type AdmissionsPart } from './admission/admissions.js';
import { createRecentRuns, type RecentRuns } from './admission/existing/recent-runs.js';
import { createFailedStarts, type FailedStarts } from './admission/failed-starts.js';
import { openEyes, openJobMapping, openKernelLog, openObserver } from './eyes.js';
import { openAudit } from './http/audit.js';
import { burstAudit } from './http/burst-audit.js';
import { openKeys } from './http/open-keys.js';
import { readiness, readinessBy } from './http/readiness.js';
import { watchRuleFiles } from './http/watch-rule-files.js';
import { openWebConfig, type OpenWebConfig } from './http/web-config/open-web-config.js';
import { createTurnQueue } from './lock/queue.js';
import { openLock } from './locks.js';
import { createMeter, type MeterWithRegistry } from './metrics/meter.js';
import { createProcessMetrics } from './metrics/process-metrics.js';
import { CannotStart } from './model/cannot-start.js';
import type { CreatedSince } from './model/ports/created-since.js';
import type { Observer } from './model/ports/eyes.js';
import type { Lock } from './model/ports/lock.js';
import type { Clock, Log } from './model/ports/outside.js';
import { createLastSeen } from './page/last-seen.js';
import { rememberDecisions } from './page/recent-decisions.js';
import { openRules } from './policy/open-rules.js';
import { createPolicy } from './policy/policy.js';
import { clearingXids } from './probe/kernel-log/clearing-store.js';
import { createRuns } from './runs/runs.js';
import { createCreatedSince } from './runtime/created-since.js';
import { startSweeping } from './runtime/left-overs.js';
import { notifyingHands } from './runtime/notifying-hands.js';
import { rememberingHands } from './runtime/remembering-hands.js';
import { openRuntime, type OpenRuntime } from './runtimes.js';
import { readBuild } from './settings/build.js';
import type { Settings } from './settings/settings.js';
import { openStateFolder, type StateFolder } from './state/state-folder.js';
import { defaultStateFolders } from './state/usable-folder.js';

/** How long a request waits for an image pull before it is told to try again. */
const PULL_WAIT_MS = 2000;
/** How long `/cards` and `/readyz` wait for a probe before they report it as blind. */
const LOOK_WITHIN_MS = 5000;

/** A gate that is built and does not listen yet. */
export interface Gate {
  readonly app: Express;
  readonly metricsApp: Express;
  readonly connections: OpenWebConfig['connections'];
  /** Reads the tokens file, the policy and the web config again, if they have changed. */
  reread(): Promise<void>;
  /** Refuses new admissions from now on. Settles when those in progress have ended, or after `withinMs`; whether all have. */
  drain(withinMs: number): Promise<boolean>;
  close(): Promise<void>;
}

/** The common arguments of the functions below. */
interface Ground {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: MeterWithRegistry;
  readonly state: Extract<StateFolder, { kind: 'open' }>;
  readonly runtime: OpenRuntime;
  readonly lock: Lock;
  readonly recentRuns: RecentRuns;
  readonly createdSince: CreatedSince;
  readonly failedStarts: FailedStarts;
}

/** Builds the gate. Throws `CannotStart` where a file, a folder, an engine or a setting makes it impossible. */
export async function wireGate(settings: Settings, clock: Clock, log: Log): Promise<Gate> {
  const startedAtMs = clock.now();
  const { keys, file: tokensFile } = await openKeys(settings, { clock, log });
  const rules = await openRules(settings.policyFile, { clock, log });
  const webConfig = await openWebConfig(settings, { clock, log });
  const ruleFiles = watchRuleFiles([tokensFile, rules.file, webConfig.file], clock);
  const audit = burstAudit(openAudit(settings.auditFile, log), clock);
  const decisions = rememberDecisions(audit);
  const state = await openState(settings, clock, log);
  const opened = await openRuntime(settings, state.folder, webConfig.files, { clock, log });
  const meter = createMeter({ ...readBuild() });
  const lock = await openLock(settings, clock, log, meter);
  const recentRuns = createRecentRuns(clock);
  const remembering = rememberingHands(opened.hands, (run) => {
    recentRuns.removed(run);
    meter.removedRun();
  });
  const runtime = { ...opened, hands: notifyingHands(remembering, () => changed()) };
  const createdSince = createCreatedSince(clock);
  const failedStarts = createFailedStarts(clock);
  const kernelLog = openKernelLog({ settings, meter, clock, log }, state.xids);
  const ground: Ground = {
    settings,
    clock,
    log,
    meter,
    state,
    runtime,
    lock,
    recentRuns,
    createdSince,
    failedStarts,
  };
  const lastSeen = createLastSeen();
  const eyes = openEyes({
    ...ground,
    books: runtime.books,
    cardStore: state.cards,
    kernelLog,
    failedStarts: () => failedStarts.now(),
    looked: (snapshot) => lastSeen.looked(snapshot),
  });
  const observer = openObserver(eyes, settings, clock, (use) => meter.held(use));
  const jobMapping = openJobMapping({ settings, clock, log }, observer);
  const changed = (): void => {
    eyes.outdated();
    jobMapping.changed();
  };
  // The first scrape and the first admission then know the topology and the field names; and the programs run while Express
  // is loaded, which takes as long.
  void observer.recent(LOOK_WITHIN_MS);
  const { createApp, createMetricsOnlyApp } = await import('./app.js');
  const { metricsRoutes } = await import('./metrics/routes.js');
  const { createPage } = await import('./page/page.js');
  const admissions = openAdmissions(ground, observer);
  const sweepParts = { standpoint: admissions.standpoint, graceMs: settings.claimGraceS * 1000 };
  const stopSweeping = startSweeping({ ...ground, ...runtime, ...sweepParts });
  const readyParts = {
    lock,
    admissions,
    ruleFiles: () => ruleFiles.status(),
    runtimeTrouble: () => runtime.trouble(),
    admitWhenBlind: settings.admitWhenBlind,
  };
  const served = {
    ...webConfig.guards,
    metrics: metricsRoutes({
      observer,
      status: () => admissions.status(),
      meter,
      process: createProcessMetrics(),
      holders: settings.metricsHolders,
      cardsReserved: (occupancy) => admissions.line(occupancy).reservation?.cards.length ?? 0,
      ruleFiles: () => ruleFiles.status(),
      log,
    }),
    readiness: () => readiness({ observer, ...readyParts }, LOOK_WITHIN_MS),
    log,
  };
  const shown = { observer, clock, lookWithinMs: LOOK_WITHIN_MS, version: readBuild().version };
  const app = createApp({
    ...served,
    ...shown,
    keys,
    meter,
    admissions,
    audit: decisions,
    countRefused: (code) => meter.callerRefused(code),
    runtime: settings.runtime,
    policy: createPolicy({ rules: rules.now, offLimits: runtime.offLimits, runtime: settings.runtime }),
    runs: createRuns({ ...runtime, ...admissions.forRuns, cardStore: state.cards, recentRuns, clock }),
    ending: admissions.ending,
    cardStore: clearingXids(state.cards, kernelLog),
    page: createPage({
      ...shown,
      lock,
      lastSeen,
      startedAtMs,
      admissions,
      decisions,
      readiness: (observation) => readinessBy(observation, readyParts),
    }),
  });
  return {
    app,
    metricsApp: createMetricsOnlyApp(served),
    connections: webConfig.connections,
    reread: () => ruleFiles.look(),
    drain: (withinMs) => admissions.drain(withinMs),
    async close() {
      stopSweeping();
      jobMapping.stop();
      kernelLog.close();
      ruleFiles.stop();
      audit.flush();
      runtime.close();
      await lock.close();
      await state.close();
    },
  };
}

/** The entry to the claim protocol, with the queue in front of the lock. */
function openAdmissions(ground: Ground, observer: Observer): AdmissionsPart {
  const { settings, clock, meter, state, lock } = ground;
  return createAdmissions({
    ...ground,
    ...ground.runtime,
    observer,
    cardStore: state.cards,
    placeStore: state.places,
    random: Math.random,
    makeQueue: (serve) =>
      createTurnQueue({
        lock,
        clock,
        serve,
        onReleased: (seconds) => meter.lockHeldFor(seconds),
      }),
    settings: {
      instanceId: state.instanceId,
      life: randomUUID(),
      alone: settings.redisUrl === null,
      admitWhenBlind: settings.admitWhenBlind,
      reserveAfterMs: settings.reserveAfterS === 0 ? null : settings.reserveAfterS * 1000,
      admitTimeoutMs: settings.admitTimeoutS * 1000,
      startTimeoutMs: settings.startTimeoutS * 1000,
      claimGraceMs: settings.claimGraceS * 1000,
      maxWaiting: settings.maxWaiting,
      pullWaitMs: PULL_WAIT_MS,
      lockThrough: settings.lockThrough,
    },
  });
}

/** The state folder, which one live gate holds at a time. */
async function openState(settings: Settings, clock: Clock, log: Log): Promise<Extract<StateFolder, { kind: 'open' }>> {
  const candidates = settings.stateDir === null ? defaultStateFolders(process.env) : [settings.stateDir];
  const state = await openStateFolder({ candidates, instanceId: settings.instanceId, clock, log });
  if (state.kind === 'refused') throw new CannotStart(state.detail);
  log.info({ folder: state.folder, instance_id: state.instanceId }, 'this gate keeps its state here');
  return state;
}
