/** The identity, current state and holder of one card. */

import { BigValueTextMode } from '@grafana/grafana-foundation-sdk/common';
import type { PanelBuilder as Stat } from '@grafana/grafana-foundation-sdk/stat';
import type { PanelBuilder as Table } from '@grafana/grafana-foundation-sdk/table';
import { METRICS } from '../../src/metrics/names.js';
import { MEMORY } from './not-seen.js';
import { bigNumbers, rowsAndColumns } from './panels.js';
import { onCard } from './selectors.js';
import { NOT_SEEN, stateOverrides } from './states.js';
import { now, rows } from './target.js';

/** The current state, as a word. */
export function stateNow(): Stat {
  const state = `max by (state) (${onCard(METRICS.cardState)} == 1)`;
  const panel = bigNumbers({
    title: 'State now',
    description:
      'The one state that the card is in. "not seen": its gate shows no cards now, or this card is no longer among them.',
    width: 6,
    height: 5,
    unit: 'none',
    noValue: 'not seen',
  })
    .textMode(BigValueTextMode.Name)
    .withTarget(now(`${state} or on () label_replace(vector(1), "state", "${NOT_SEEN}", "", "")`, '{{state}}'));
  for (const { name, properties } of stateOverrides()) panel.overrideByName(name, properties);
  return panel;
}

/** Model, place and driver, even of a card that was last seen some time ago. */
export function identity(): Table {
  const by = 'group by (index, name, pci_bus_id, driver_version, series)';
  // A failed look has no driver version; of earlier looks, only successful ones count.
  const seen = onCard(METRICS.cardInfo).replace('}', ',driver_version!=""}');
  return rowsAndColumns({
    title: 'What it is',
    description:
      'The card as the driver describes it. The index is what people call it and can move; the bus id is its slot. Of a card that is not seen there is a row for each thing it was in the last day.',
    width: 12,
    height: 5,
    unit: 'none',
    noValue: 'not seen in the last day',
  })
    .withTarget(rows(`${by} (${onCard(METRICS.cardInfo)}) or on () ${by} (last_over_time(${seen}[${MEMORY}]))`))
    .withTransformation({
      id: 'organize',
      options: {
        excludeByName: { Time: true, Value: true },
        indexByName: { index: 0, name: 1, pci_bus_id: 2, driver_version: 3, series: 4 },
        renameByName: {
          index: 'Index',
          name: 'Model',
          pci_bus_id: 'Bus id',
          driver_version: 'Driver',
          series: 'Series',
        },
      },
    });
}

/** The runs that hold it. */
export function holder(): Table {
  return rowsAndColumns({
    title: 'Held by',
    description:
      'The run that holds the card. Only with TUNEPLANE_METRICS_HOLDERS, since a run id may tell more than everybody should know; without it the claims below count them.',
    width: 6,
    height: 5,
    unit: 'none',
    noValue: 'no run, holders not exported, or not seen',
  })
    .withTarget(rows(`group by (run_id) (${onCard(METRICS.cardHolder)})`))
    .withTransformation({
      id: 'organize',
      options: { excludeByName: { Time: true, Value: true }, indexByName: {}, renameByName: { run_id: 'Run' } },
    });
}
