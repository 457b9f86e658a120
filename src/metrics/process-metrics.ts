/** prom-client's metrics of this process, in a separate registry: if one fails, the gate's own are unaffected. */

import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Clock } from '../model/ports/outside.js';
import { systemClock } from '../time/system-clock.js';

/** Gauges that end in `_total`: `promtool check metrics` refuses them (measured with prom-client 15.1 and promtool 2.42). */
const REFUSED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/**
 * These come from a histogram of Node that a timer fills every 10 ms, which wakes an idle gate 100 times a second beside other
 * people's jobs. prom-client offers no way to leave it out, so its timer is set to an hour and what it measures is not shown.
 * `nodejs_eventloop_lag_seconds`, measured at each scrape, stays.
 */
const OF_THE_HISTOGRAM = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'].map(
  (part) => `nodejs_eventloop_lag_${part}_seconds`,
);
const AN_HOUR_MS = 3_600_000;

/**
 * Every descriptor and every handle is counted for each text, which takes 10 ms of the event loop where there are 4,000 connections:
 * strangers who scrape together must not take all of it.
 */
const FRESH_MS = 1000;

/** Starts to collect metrics of the process. Their text is up to a second old. */
export function createProcessMetrics(clock: Pick<Clock, 'monotonic'> = systemClock): Registry {
  const registry = new SparingRegistry(clock);
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: AN_HOUR_MS });
  for (const name of [...REFUSED, ...OF_THE_HISTOGRAM]) registry.removeSingleMetric(name);
  return registry;
}

class SparingRegistry extends Registry {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #last: { readonly text: Promise<string>; readonly atMs: number } | null = null;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    super();
    this.#clock = clock;
  }

  override metrics(): Promise<string> {
    const now = this.#clock.monotonic();
    if (this.#last === null || now - this.#last.atMs >= FRESH_MS) this.#last = { text: super.metrics(), atMs: now };
    return this.#last.text;
  }
}
