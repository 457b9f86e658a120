/** prom-client's metrics of this process, in a separate registry: if one fails, the gate's own are unaffected. */

import { collectDefaultMetrics, Registry } from 'prom-client';

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

/** Starts to collect metrics of the process. */
export function createProcessMetrics(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: AN_HOUR_MS });
  for (const name of [...REFUSED, ...OF_THE_HISTOGRAM]) registry.removeSingleMetric(name);
  return registry;
}
