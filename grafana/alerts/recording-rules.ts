/** What Prometheus computes beforehand, for months of use at once. Grafana's own rules cannot record; the panels need none. */

import { METRICS } from '../../src/metrics/names.js';
import { MACHINE } from './queries.js';

/** One recorded series. */
export interface Recording {
  readonly record: string;
  /** PromQL. */
  readonly expr: string;
}

/** `level:metric:operations`, as Prometheus' own practice has it. */
export const RECORDINGS: readonly Recording[] = [
  {
    // Cards held on average: its average over a month, times the hours of the month, is the month's card-hours.
    record: 'instance_principal:tuneplane_gpu_held_cards:rate5m',
    expr: `sum by (${MACHINE}, principal) (rate(${METRICS.heldCardSeconds.name}[5m]))`,
  },
];
