/** Who used the cards. */

import type { PanelBuilder as BarGauge } from '@grafana/grafana-foundation-sdk/bargauge';
import type { PanelBuilder as TimeSeries } from '@grafana/grafana-foundation-sdk/timeseries';
import { METRICS } from '../../src/metrics/names.js';
import { bars, stackedLines } from './panels.js';
import { onFleet } from './selectors.js';
import { course, now } from './target.js';

/** Card-hours over the displayed time. */
export function cardHours(): BarGauge {
  return bars({
    title: 'Card-hours by user',
    description:
      'How long the cards were held in the displayed time, by who asked for the job. Counted from look to look: a job shorter than two scrapes may be missing. "unknown": jobs that name nobody; "other": everybody beyond 100 names.',
    width: 8,
    height: 9,
    unit: 'none',
    noValue: 'no card was held',
  })
    .decimals(1)
    .withTarget(
      now(
        `sort_desc(sum by (principal) (increase(${onFleet(METRICS.heldCardSeconds)}[$__range])) / 3600)`,
        '{{principal}}',
      ),
    );
}

/** Cards held at a time. */
export function cardsHeld(): TimeSeries {
  return stackedLines({
    title: 'Cards held by user',
    description: 'How many cards each user held at a time, on average.',
    width: 16,
    height: 9,
    unit: 'none',
    noValue: 'no card was held',
  }).withTarget(
    course(`sum by (principal) (rate(${onFleet(METRICS.heldCardSeconds)}[$__rate_interval]))`, '{{principal}}'),
  );
}
