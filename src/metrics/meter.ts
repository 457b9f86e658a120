/** Counts what happened since the gate started, in a registry that lives as long as the gate. */

import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { OUTCOMES, PHASES, REFUSED_CODES, type RefusedCode } from '../model/admission.js';
import type { CardUuid } from '../model/card.js';
import type { HeldUse, Meter } from '../model/ports/meter.js';
import { BLIND_REASONS, PROBES, type BlindReason, type ProbeName, type Snapshot } from '../model/snapshot.js';
import { METRICS, type Metric } from './names.js';

/** The meter, and what the page needs to know of it. */
export interface MeterWithRegistry extends Meter {
  /** The counters and histograms; nothing from a look is in it. */
  readonly registry: Registry;
  /** Failed starts on this card since the gate started. */
  startFailures(uuid: CardUuid): number;
  /** Xids of this card since the gate started, by code. */
  xids(uuid: CardUuid): ReadonlyMap<number, number>;
  /** Epoch milliseconds of the end of the last look in which this probe could see; null when it never could. */
  lastSuccessMs(probe: ProbeName): number | null;
  /** Changes whenever the result of `startFailures` or `lastSuccessMs` may have changed. */
  edition(): number;
  callerRefused(code: RefusedCode): void;
  /** Card-seconds by principal since the last call; a forgotten principal's series ends. */
  held(use: HeldUse): void;
}

/** Every label value exists from the start, so that an increase from 0 is visible. */
export function createMeter(build = { version: 'unknown', revision: 'unknown' }): MeterWithRegistry {
  const registry = new Registry();
  const admissions = counter(registry, METRICS.admissions);
  const callersRefused = counter(registry, METRICS.callersRefused);
  const probeFailures = counter(registry, METRICS.probeFailures);
  const admissionDuration = histogram(registry, METRICS.admissionDuration);
  const phaseDuration = histogram(registry, METRICS.phaseDuration);
  const lockHold = histogram(registry, METRICS.lockHold);
  const lockLost = counter(registry, METRICS.lockLost);
  const claimRaces = counter(registry, METRICS.claimRaces);
  const leftOversRemoved = counter(registry, METRICS.leftOversRemoved);
  const removedRuns = counter(registry, METRICS.removedRuns);
  const kernelLogGaps = counter(registry, METRICS.kernelLogGaps);
  const cardsGranted = counter(registry, METRICS.cardsGranted);
  const heldCardSeconds = counter(registry, METRICS.heldCardSeconds);
  new Gauge({ ...options(METRICS.buildInfo), registers: [registry] }).set({ ...build }, 1);
  for (const outcome of OUTCOMES) admissions.inc({ outcome }, 0);
  for (const code of REFUSED_CODES) callersRefused.inc({ code }, 0);
  for (const phase of PHASES) phaseDuration.zero({ phase });
  for (const probe of PROBES) for (const reason of BLIND_REASONS) probeFailures.inc({ probe, reason }, 0);

  const startFailures = new Map<CardUuid, number>();
  const xids = new Map<CardUuid, Map<number, number>>();
  const lastSuccessMs = new Map<ProbeName, number>();
  let edition = 0;

  return {
    registry,
    outcome(outcome, seconds) {
      admissions.inc({ outcome });
      admissionDuration.observe(seconds);
    },
    callerRefused: (code) => callersRefused.inc({ code }),
    held({ added, forgotten }) {
      for (const principal of forgotten) heldCardSeconds.remove({ principal });
      for (const [principal, seconds] of added) heldCardSeconds.inc({ principal }, seconds);
    },
    phase: (phase, seconds) => phaseDuration.observe({ phase }, seconds),
    lockHeldFor: (seconds) => lockHold.observe(seconds),
    lockLost: () => lockLost.inc(),
    claimRace: () => claimRaces.inc(),
    leftOverRemoved: () => leftOversRemoved.inc(),
    removedRun: () => removedRuns.inc(),
    granted: (cards) => cardsGranted.inc(cards),
    startFailed(cards) {
      edition += 1;
      for (const uuid of cards) startFailures.set(uuid, (startFailures.get(uuid) ?? 0) + 1);
    },
    looked(snapshot) {
      edition += 1;
      for (const probe of PROBES) {
        const why = blindWhy(snapshot, probe);
        if (why !== null) probeFailures.inc({ probe, reason: why });
        if (snapshot[probe].kind === 'seen') lastSuccessMs.set(probe, snapshot.endedAtMs);
      }
    },
    xid(uuid, code) {
      edition += 1;
      const codes = xids.get(uuid) ?? new Map<number, number>();
      codes.set(code, (codes.get(code) ?? 0) + 1);
      xids.set(uuid, codes);
    },
    kernelLogGap: () => kernelLogGaps.inc(),
    startFailures: (uuid) => startFailures.get(uuid) ?? 0,
    xids: (uuid) => xids.get(uuid) ?? NO_XIDS,
    lastSuccessMs: (probe) => lastSuccessMs.get(probe) ?? null,
    edition: () => edition,
  };
}

const NO_XIDS: ReadonlyMap<number, number> = new Map();

function blindWhy(snapshot: Snapshot, probe: ProbeName): BlindReason | null {
  const probed = snapshot[probe];
  return probed.kind === 'blind' ? probed.why : null;
}

function options(metric: Metric): { name: string; help: string; labelNames: string[] } {
  return { name: metric.name, help: metric.help, labelNames: [...metric.labels] };
}

function counter(registry: Registry, metric: Metric): Counter {
  return new Counter({ ...options(metric), registers: [registry] });
}

function histogram(registry: Registry, metric: Metric): Histogram {
  return new Histogram({ ...options(metric), buckets: [...(metric.buckets ?? [])], registers: [registry] });
}
