/** The text that Prometheus scrapes: one look, and the gate's own counters. */

import type { Registry } from 'prom-client';
import { CARD_STATES } from '../model/card.js';
import type { Occupancy } from '../model/occupancy.js';
import type { GateStatus } from '../model/ports/admissions.js';
import type { Observation } from '../model/ports/eyes.js';
import type { RuleFileStatus } from '../model/ports/rule-files.js';
import { PROBES, type ProbeName, type Snapshot } from '../model/snapshot.js';
import { putCards } from './card-series.js';
import { createFreshPage, type FreshPage } from './fresh-page.js';
import type { MeterWithRegistry } from './meter.js';
import { METRICS } from './names.js';

/** What a page may show, and where to report a part that failed. */
export interface PageOptions {
  /** `TUNEPLANE_METRICS_HOLDERS`. */
  readonly holders: boolean;
  /** The process metrics of prom-client; null: left out. */
  readonly process: Registry | null;
  /** The state of the access files (tokens, policy) at their last check. */
  readonly ruleFiles: () => readonly RuleFileStatus[];
  /** How many free cards of a look are reserved for a run that has waited too long. */
  readonly cardsReserved: (occupancy: Occupancy) => number;
  /** Called on a bug of ours: the failed part is missing from the page, the rest is there. */
  readonly onFault: (fault: unknown) => void;
}

/**
 * Renders the whole page; never rejects. `observation` null means that no look was available: every probe counts as failed
 * and no card is shown, but the gate's own metrics are. `status` null leaves out the metrics of work in progress.
 */
export type RenderPage = (observation: Observation | null, status: GateStatus | null) => Promise<string>;

/** The series of a look make up most of a page, and are rendered once for all pages that show it. */
export function createExposition(meter: MeterWithRegistry, options: PageOptions): RenderPage {
  const { process, onFault } = options;
  const looks = new WeakMap<Observation, { readonly text: Promise<string>; readonly edition: number }>();
  const lookText = (observation: Observation | null): Promise<string> => {
    const edition = meter.edition();
    const made = observation === null ? undefined : looks.get(observation);
    if (made?.edition === edition) return made.text;
    // Reads everything of the look in one turn of the event loop; the awaited parts are only text.
    const page = lookPage(observation, meter, options) ?? lookPage(null, meter, options);
    const text = textOf(page?.registry, onFault);
    if (observation !== null) looks.set(observation, { text, edition });
    return text;
  };
  return async (observation, status) => {
    const gate = createFreshPage();
    putStatus(gate, status);
    putReserved(gate, observation === null ? null : options.cardsReserved(observation.occupancy));
    putRuleFiles(gate, options.ruleFiles());
    const parts = await Promise.all([
      lookText(observation),
      ...[gate.registry, meter.registry, process].map((registry) => textOf(registry, onFault)),
    ]);
    return parts.filter((part) => part !== '').join('\n');
  };
}

/** The series of one look; null where rendering failed. */
function lookPage(observation: Observation | null, meter: MeterWithRegistry, options: PageOptions): FreshPage | null {
  try {
    const page = createFreshPage();
    if (observation === null) {
      page.put(METRICS.externalProbeOk, [[{}, 0]]);
      page.put(
        METRICS.probeSuccess,
        PROBES.map((probe) => [{ probe }, 0]),
      );
      page.put(
        METRICS.probeLastSuccess,
        PROBES.map((probe) => [{ probe }, seconds(meter.lastSuccessMs(probe))]),
      );
      return page;
    }
    putMachine(page, observation.occupancy);
    putProbes(page, observation.occupancy, observation.snapshot, meter);
    putCards(page, observation.occupancy, meter, options.holders);
    return page;
  } catch (fault) {
    options.onFault(fault);
    return null;
  }
}

function putMachine(page: FreshPage, occupancy: Occupancy): void {
  page.put(
    METRICS.cards,
    CARD_STATES.map((state) => [{ state }, occupancy.counts[state]]),
  );
  page.put(METRICS.cardsExpected, [[{}, occupancy.expected]]);
  page.put(METRICS.externalProbeOk, [[{}, occupancy.externalProbeOk]]);
  page.put(METRICS.snapshotTimestamp, [[{}, seconds(occupancy.observedAtMs)]]);
}

/** A check that is switched off counts as blind: health has 0. The processes probe then has no series. */
function putProbes(page: FreshPage, occupancy: Occupancy, snapshot: Snapshot, meter: MeterWithRegistry): void {
  const asked = PROBES.filter((probe) => probe === 'health' || occupancy.probes[probe].state !== 'off');
  const lastMs = (probe: ProbeName): number | null =>
    occupancy.probes[probe].state === 'ok' ? snapshot.endedAtMs : meter.lastSuccessMs(probe);
  const tookMs = (probe: ProbeName): number | null => occupancy.probes[probe].tookMs;
  page.put(
    METRICS.probeSuccess,
    asked.map((probe) => [{ probe }, occupancy.probes[probe].state === 'ok']),
  );
  page.put(
    METRICS.probeDuration,
    asked.map((probe) => [{ probe }, seconds(tookMs(probe))]),
  );
  page.put(
    METRICS.probeLastSuccess,
    asked.map((probe) => [{ probe }, seconds(lastMs(probe))]),
  );
}

function putStatus(page: FreshPage, status: GateStatus | null): void {
  if (status === null) return;
  page.put(METRICS.runsWaiting, [[{}, status.line.waiting]]);
  page.put(METRICS.oldestWait, [[{}, (status.line.oldestMs ?? 0) / 1000]]);
  page.put(METRICS.admissionsInFlight, [[{}, status.inFlight]]);
  page.put(METRICS.lockWaiters, [[{}, status.lockWaiters]]);
  page.put(METRICS.lockHeld, [[{}, status.lockHeld]]);
  page.put(METRICS.redisUp, [[{}, status.redisUp]]);
}

/** If nothing was seen, no reservation is known. */
function putReserved(page: FreshPage, cards: number | null): void {
  page.put(METRICS.cardsReserved, cards === null ? [] : [[{}, cards]]);
}

function putRuleFiles(page: FreshPage, files: readonly RuleFileStatus[]): void {
  page.put(
    METRICS.configReloadSuccess,
    files.map(({ file, inForce }) => [{ file }, inForce === 'as_written']),
  );
  page.put(
    METRICS.configReloadTimestamp,
    files.map(({ file, readAtMs }) => [{ file }, seconds(readAtMs)]),
  );
}

function seconds(milliseconds: number | null): number | null {
  return milliseconds === null ? null : milliseconds / 1000;
}

/** The text of one registry; empty where it could not be rendered. */
async function textOf(registry: Registry | null | undefined, onFault: (fault: unknown) => void): Promise<string> {
  try {
    return registry === null || registry === undefined ? '' : await registry.metrics();
  } catch (fault) {
    onFault(fault);
    return '';
  }
}
