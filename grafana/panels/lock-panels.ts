/** The lock between allocators, and the Redis that keeps it. */

import { BigValueTextMode } from '@grafana/grafana-foundation-sdk/common';
import type { PanelBuilder as Stat } from '@grafana/grafana-foundation-sdk/stat';
import type { PanelBuilder as StateTimeline } from '@grafana/grafana-foundation-sdk/statetimeline';
import type { PanelBuilder as TimeSeries } from '@grafana/grafana-foundation-sdk/timeseries';
import { METRICS } from '../../src/metrics/names.js';
import { BAD, badAboveZero, DOUBTFUL, GOOD, PLAIN } from './colours.js';
import { bigNumbers, lines, stackedLines, stretches } from './panels.js';
import { onFleet, quantile, UP } from './selectors.js';
import { course, now } from './target.js';
import { words } from './value-words.js';

/** Who waits for the lock. */
export function waiters(): TimeSeries {
  return stackedLines({
    title: 'Waiting for the lock',
    description: 'Admissions in line for the lock, by machine. A line that does not move: its holder hangs.',
    width: 8,
    height: 8,
    unit: 'none',
    noValue: 'no gate answered',
  })
    .decimals(0)
    .withTarget(course(`sum by (instance) (${onFleet(METRICS.lockWaiters)})`, '{{instance}}'));
}

/** Time per hold, and share of the time that it is held. */
export function hold(): TimeSeries {
  return lines({
    title: 'Lock held at a time',
    description:
      'One look and a few creates, so well under a second; with TUNEPLANE_LOCK_THROUGH=start as long as a start. No line where it was not taken.',
    width: 8,
    height: 8,
    unit: 's',
    noValue: 'no gate answered',
  })
    .withTarget(course(quantile(0.5, METRICS.lockHold), 'p50'))
    .withTarget(course(quantile(0.95, METRICS.lockHold), 'p95'));
}

/** The share of the time that it is held. */
export function heldShare(): TimeSeries {
  return lines({
    title: 'Share of time with the lock',
    description:
      'Of the scrapes, how many found the gate with the lock in its hands. Near 100%: the lock is what all wait for.',
    width: 8,
    height: 8,
    unit: 'percentunit',
    noValue: 'no gate answered',
  })
    .max(1)
    .withTarget(
      course(`avg by (instance) (avg_over_time(${onFleet(METRICS.lockHeld)}[$__rate_interval]))`, '{{instance}}'),
    );
}

/** Leases that expired while they were held. */
export function lost(): Stat {
  return bigNumbers({
    title: 'Locks lost',
    description:
      'Leases lost while they were held, in the time shown: Redis came back empty, evicted the key, or a gate stalled. No card is given twice by it, but find out why.',
    width: 8,
    height: 7,
    unit: 'none',
    noValue: 'no gate answered',
  })
    .decimals(0)
    .textMode(BigValueTextMode.Value)
    .thresholds(badAboveZero())
    .withTarget(now(`ceil(sum(increase(${onFleet(METRICS.lockLost)}[$__range])))`));
}

/** Whether Redis answers; empty for a gate that is down, and for one without Redis. */
export function redis(): StateTimeline {
  const silent = `(${UP} == 0) - 1`;
  const without = `(${UP} == 1) + 1`;
  const up = onFleet(METRICS.redisUp);
  return stretches(
    {
      title: 'Redis',
      description:
        'Whether Redis answers each gate. While it does not, nothing is admitted. "not set up" is right for a machine with one gate.',
      width: 16,
      height: 7,
      unit: 'none',
      noValue: 'no gate was scraped',
    },
    words([1, 'answers', GOOD], [0, 'silent', BAD], [-1, 'gate not seen', DOUBTFUL], [2, 'not set up', PLAIN]),
  ).withTarget(
    course(
      `max by (job, instance) (${up} or on (job, instance) ${silent} or on (job, instance) ${without})`,
      '{{instance}}',
    ),
  );
}
