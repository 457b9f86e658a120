/** prom-client's metrics of this process, in a separate registry: if one fails, the gate's own are unaffected. */

import { collectDefaultMetrics, Registry } from 'prom-client';

/** Gauges that end in `_total`: `promtool check metrics` refuses them (measured with prom-client 15.1 and promtool 2.42). */
const REFUSED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** NaN, or 292 years, when nothing was measured between two scrapes; the percentiles and the maximum are 0 then. */
const NO_NUMBER_WHEN_IDLE = [
  'nodejs_eventloop_lag_min_seconds',
  'nodejs_eventloop_lag_mean_seconds',
  'nodejs_eventloop_lag_stddev_seconds',
];

/** Starts to collect metrics of the process. */
export function createProcessMetrics(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of [...REFUSED, ...NO_NUMBER_WHEN_IDLE]) registry.removeSingleMetric(name);
  return registry;
}
