/** The variables at the top of a dashboard. */

import {
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { METRICS } from '../../src/metrics/names.js';
import { CHOSEN } from './frame.js';

/** Which Prometheus. */
export function datasource(): DatasourceVariableBuilder {
  return new DatasourceVariableBuilder('datasource')
    .label('Prometheus')
    .description('The Prometheus that scrapes the gates.')
    .type('prometheus');
}

/** How long a job stays selectable after its last gate was seen. */
const REMEMBERED = '7d';

/**
 * The scrape jobs with gates. A job whose gates were never reached has no series of its own, so it is found by its name in
 * the scrape configuration that we ship.
 */
export function job(): QueryVariableBuilder {
  const known = `group by (job) (last_over_time(${METRICS.buildInfo.name}[${REMEMBERED}]))`;
  return query('job', `query_result(${known} or group by (job) (up{job=~".*gpu-gate.*"}))`, QueryType.result)
    .label('Job')
    .description('Scrape jobs of Prometheus that have gates.')
    .regex('/job="([^"]*)"/');
}

/** The gates of these jobs, also those that are down: `up` includes them all. */
export function instance(): QueryVariableBuilder {
  return query('instance', 'label_values(up{job=~"$job"}, instance)', QueryType.labelValues)
    .label('Machine')
    .description('Addresses of gates, one for each machine; those that are down too.');
}

/** The cards of one gate, including those that disappeared within the displayed time range. */
export function uuid(): QueryVariableBuilder {
  const series = `${METRICS.cardState.name}{job="$job",instance="$instance"}`;
  return query('uuid', `label_values(${series}, uuid)`, QueryType.labelValues)
    .label('Card')
    .description('Cards by uuid: their index moves when one falls off the bus.');
}

/** Several values at once, by default all. */
export function several(variable: QueryVariableBuilder): QueryVariableBuilder {
  return variable
    .multi(true)
    .includeAll(true)
    .current({ text: ['All'], value: ['$__all'] });
}

/** Grafana's numbers for a variable's query type; its editor shows the matching fields. */
const QueryType = { labelValues: 1, result: 3 } as const;

function query(name: string, asked: string, qryType: number): QueryVariableBuilder {
  return new QueryVariableBuilder(name)
    .query({ query: asked, qryType, refId: 'PrometheusVariableQueryEditor-VariableQuery' })
    .definition(asked)
    .datasource(CHOSEN)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.NaturalAsc)
    .multi(false)
    .includeAll(false);
}
