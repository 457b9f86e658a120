/** Requests to the gates, their answers, and their duration. */

import type { PanelBuilder as TimeSeries } from '@grafana/grafana-foundation-sdk/timeseries';
import { METRICS } from '../../src/metrics/names.js';
import { lines, stackedLines } from './panels.js';
import { onFleet, quantile } from './selectors.js';
import { course } from './target.js';

/** Requests by answer. */
export function outcomes(): TimeSeries {
  return stackedLines({
    title: 'Admissions by answer',
    description:
      'Answers a minute; dry runs are not counted. Many "wait" is a full machine. start_failed, create_failed, docker_unavailable, lock_unavailable and internal ask for somebody.',
    width: 12,
    height: 9,
    unit: 'cpm',
    noValue: 'no gate answered',
  }).withTarget(
    course(`60 * sum by (outcome) (rate(${onFleet(METRICS.admissions)}[$__rate_interval]))`, '{{outcome}}'),
  );
}

/** Time from request to answer. */
export function durations(): TimeSeries {
  return lines({
    title: 'Admission duration',
    description:
      'From request to answer: half of the admissions are faster than p50, 95 of 100 faster than p95. No line where nothing was asked.',
    width: 12,
    height: 9,
    unit: 's',
    noValue: 'no gate answered',
  })
    .withTarget(course(quantile(0.5, METRICS.admissionDuration), 'p50'))
    .withTarget(course(quantile(0.95, METRICS.admissionDuration), 'p95'));
}

/** Time per phase. */
export function phases(): TimeSeries {
  return lines({
    title: 'Phases of an admission, p95',
    description:
      'pull: waiting for the image. lock: waiting for the turn. look: nvidia-smi and Docker. claim: creating the container and listing again. start: until it runs.',
    width: 12,
    height: 8,
    unit: 's',
    noValue: 'no gate answered',
  }).withTarget(course(quantile(0.95, METRICS.phaseDuration, 'phase'), '{{phase}}'));
}

/** Work in progress, and cards given. */
export function underWay(): TimeSeries {
  return lines({
    title: 'Under way, and given',
    description:
      'Admissions under way now; cards given to runs, claims taken back because another was on the same card, and left-overs of dead gates removed, each a minute.',
    width: 12,
    height: 8,
    unit: 'none',
    noValue: 'no gate answered',
  })
    .withTarget(course(`sum(${onFleet(METRICS.admissionsInFlight)})`, 'under way'))
    .withTarget(course(perMinute(onFleet(METRICS.cardsGranted)), 'cards given / min'))
    .withTarget(course(perMinute(onFleet(METRICS.claimRaces)), 'claims taken back / min'))
    .withTarget(course(perMinute(onFleet(METRICS.leftOversRemoved)), 'left-overs removed / min'));
}

function perMinute(series: string): string {
  return `60 * sum(rate(${series}[$__rate_interval]))`;
}
