/** Whether the gates can see. */

import { TableCellDisplayMode } from '@grafana/grafana-foundation-sdk/common';
import type { PanelBuilder as Table } from '@grafana/grafana-foundation-sdk/table';
import type { PanelBuilder as TimeSeries } from '@grafana/grafana-foundation-sdk/timeseries';
import { METRICS } from '../../src/metrics/names.js';
import { BAD, byMapping, DOUBTFUL, GOOD } from './colours.js';
import { MEMORY, SILENT } from './not-seen.js';
import { lines, rowsAndColumns, stackedLines } from './panels.js';
import { onFleet, UP } from './selectors.js';
import { course, rows } from './target.js';
import { words } from './value-words.js';

/** One status per probe and machine. */
export function lamps(): Table {
  return rowsAndColumns({
    title: 'What the gates can see',
    description:
      'gate: Prometheus reaches it. gpus, processes, health, docker: that probe could see in the last look. memory: the memory of the cards could be read, which shows use from outside. redis: it answers. A dash stands for what nobody asks for: switched off, or not set up.',
    width: 12,
    height: 9,
    unit: 'none',
    noValue: '–',
  })
    .colorScheme(byMapping())
    .mappings([words([1, 'ok', GOOD], [0, 'failed', BAD], [-1, 'not seen', DOUBTFUL])])
    .cellOptions({ type: TableCellDisplayMode.ColorBackground })
    .withTarget(rows(lampValues()))
    .withTransformation({
      id: 'groupingToMatrix',
      options: { rowField: 'instance', columnField: 'probe', valueField: 'Value', emptyValue: 'null' },
    })
    .overrideByName('instance\\probe', [{ id: 'displayName', value: 'Machine' }]);
}

/** The age of the looks that the gates show. */
export function age(): TimeSeries {
  return lines({
    title: 'Age of the look',
    description:
      'How long ago the look began that a gate shows, at the moment of the graph: Prometheus keeps a look until the next scrape. More than a few scrapes: the gate shows old pictures.',
    width: 12,
    height: 9,
    unit: 's',
    noValue: 'no gate answered',
  }).withTarget(course(`max by (instance) (time() - ${onFleet(METRICS.snapshotTimestamp)})`, '{{instance}}'));
}

/** The duration of the probes, for each the slowest machine. */
export function durations(): TimeSeries {
  return lines({
    title: 'Probe duration, slowest machine',
    description:
      'How long each probe took in the last look. nvidia-smi at 1 s or more usually means that persistence mode is off.',
    width: 12,
    height: 8,
    unit: 's',
    noValue: 'no gate answered',
  }).withTarget(course(`max by (probe) (${onFleet(METRICS.probeDuration)})`, '{{probe}}'));
}

/** Why probes could not see. */
export function failures(): TimeSeries {
  return stackedLines({
    title: 'Looks that could not see, by why',
    description:
      'Looks a minute in which a probe could not see. timeout: it was ended after its time. overlap: the one before still hangs. unavailable: Docker does not answer. spawn: the program is not there.',
    width: 12,
    height: 8,
    unit: 'cpm',
    noValue: 'no gate answered',
  }).withTarget(
    course(
      `60 * sum by (probe, reason) (rate(${onFleet(METRICS.probeFailures)}[$__rate_interval]))`,
      '{{probe}}: {{reason}}',
    ),
  );
}

/** 1 and 0 as the gates export them, -1 for a value that a silent gate had last. One series per machine and status. */
function lampValues(): string {
  const lit = (each: (series: string) => string): string =>
    [
      each(onFleet(METRICS.probeSuccess)),
      named('memory', each(onFleet(METRICS.externalProbeOk))),
      named('redis', each(onFleet(METRICS.redisUp))),
    ].join(' or ');
  const told = `min by (job, instance, probe) (${named('gate', UP)} or ${lit((series) => series)})`;
  const once = `group by (job, instance, probe) (${lit((series) => `last_over_time(${series}[${MEMORY}])`)})`;
  return `${told} or on (job, instance, probe) -1 * (${once} and on (job, instance) ${SILENT})`;
}

function named(probe: string, series: string): string {
  return `label_replace(${series}, "probe", "${probe}", "", "")`;
}
