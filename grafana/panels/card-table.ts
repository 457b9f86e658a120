/** A table of the cards of all machines. */

import { TableCellDisplayMode, TableSortByFieldStateBuilder } from '@grafana/grafana-foundation-sdk/common';
import type { DynamicConfigValue } from '@grafana/grafana-foundation-sdk/dashboard';
import type { PanelBuilder as Table } from '@grafana/grafana-foundation-sdk/table';
import { METRICS, type Metric } from '../../src/metrics/names.js';
import { TO_CARD } from './links.js';
import { MEMORY, SILENT } from './not-seen.js';
import { rowsAndColumns } from './panels.js';
import { reasonsOfCards, warningsOfCards } from './reasons.js';
import { CARD_KEY, onFleet } from './selectors.js';
import { NOT_SEEN, stateMapping } from './states.js';
import { rows } from './target.js';

/** The table. Columns keep their labels' names, which the link needs, and get display names. */
export function cardTable(): Table {
  const table = rowsAndColumns({
    title: 'Cards',
    description:
      'Every card of every machine, with all that is found about it: a held card can be unhealthy too. "not seen": its gate shows no cards, and what stands there is from the last day. "Since" looks back as far as the dashboard shows, to a step of its graphs. A uuid leads to the card.',
    width: 24,
    height: 14,
    unit: 'none',
    noValue: '–',
  });
  for (const query of QUERIES) table.withTarget(rows(query()));
  return table
    .withTransformation({ id: 'merge', options: {} })
    .withTransformation({ id: 'organize', options: { excludeByName: UNSHOWN, indexByName: ORDER, renameByName: {} } })
    .overrideByName('instance', [named('Machine')])
    .overrideByName('index', [named('Card'), { id: 'custom.width', value: 80 }])
    .overrideByName('name', [named('Model')])
    .overrideByName('state', [named('State'), { id: 'mappings', value: [stateMapping()] }, COLOURED])
    .overrideByName('Value #C', [named('Since'), { id: 'unit', value: 'dateTimeFromNow' }, noValue('before all this')])
    .overrideByName('Value #D', [named('Memory used'), { id: 'unit', value: 'bytes' }, noValue('not read')])
    .overrideByName('Value #E', [named('Memory'), { id: 'unit', value: 'bytes' }, noValue('not read')])
    .overrideByName('reasons', [named('Unhealthy because')])
    .overrideByName('warnings', [named('Warnings')])
    .overrideByName('uuid', [named('Uuid'), { id: 'links', value: [TO_CARD] }])
    .sortBy(['Machine', 'Card'].map((column) => new TableSortByFieldStateBuilder().displayName(column).desc(false)));
}

/** Grafana names them A to G, and their values `Value #A` to `Value #G`. Rows with equal shared columns are merged. */
const QUERIES = [
  state,
  about,
  since,
  () => latest(METRICS.cardMemoryUsed),
  () => latest(METRICS.cardMemorySize),
  reasonsOfCards,
  warningsOfCards,
];

const ORDER = Object.fromEntries(
  ['instance', 'index', 'name', 'state', 'Value #C', 'Value #D', 'Value #E', 'reasons', 'warnings', 'uuid', 'job'].map(
    (column, place) => [column, place],
  ),
);
const UNSHOWN = { Time: true, 'Value #A': true, 'Value #B': true, 'Value #F': true, 'Value #G': true };

const COLOURED = { id: 'custom.cellOptions', value: { type: TableCellDisplayMode.ColorBackground, mode: 'basic' } };
const named = (text: string): DynamicConfigValue => ({ id: 'displayName', value: text });
const noValue = (text: string): DynamicConfigValue => ({ id: 'noValue', value: text });

const IN_STATE = `max by (${CARD_KEY}, state) (${onFleet(METRICS.cardState)}) == 1`;

/** The cards of silent gates have rows too. */
function state(): string {
  const left = `group by (${CARD_KEY}) (${last(METRICS.cardState)})`;
  return `${IN_STATE} or on (${CARD_KEY}) label_replace(${left}, "state", "${NOT_SEEN}", "", "")`;
}

function about(): string {
  const by = `group by (${CARD_KEY}, name)`;
  return `${by} (${onFleet(METRICS.cardInfo)}) or on (${CARD_KEY}) ${by} (${last(METRICS.cardInfo)})`;
}

/**
 * The last time at which the card was not yet in its state, in milliseconds; nothing if that was before the displayed range.
 */
function since(): string {
  const notYet = `timestamp((max by (${CARD_KEY}, state) (${onFleet(METRICS.cardState)}) == 0))`;
  const lately = `1000 * max_over_time(${notYet}[$__range:$__interval])`;
  return `max by (${CARD_KEY}) (${lately} and (${IN_STATE}))`;
}

function latest(metric: Metric): string {
  return `max by (${CARD_KEY}) (${onFleet(metric)})`;
}

/** The last values of silent gates. */
function last(metric: Metric): string {
  return `last_over_time(${onFleet(metric)}[${MEMORY}]) and on (job, instance) ${SILENT}`;
}
