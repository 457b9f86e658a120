/** The rules as Grafana provisions them from a file (`apiVersion: 1`). */

import { stringify } from 'yaml';
import { DATASOURCE_UID } from '../ids.js';
import { INTERVAL, labelsOf, runbookUrl, type Rule } from './rule.js';
import { GROUPS } from './rules.js';
import { forGrafana, says, SIDE_QUERIES } from './wording.js';

/** The whole file. */
export function grafanaFile(): string {
  const groups = Object.entries(GROUPS).map(([name, rules]) => ({
    orgId: 1,
    name,
    folder: 'TunePlane GPU gate',
    interval: INTERVAL,
    rules: rules.map(written),
  }));
  // Without aliases: a query shared by two rules is written twice, as in Grafana's own export.
  return HEAD + stringify({ apiVersion: 1, groups }, { lineWidth: 0, aliasDuplicateObjects: false });
}

const HEAD = "# Made by `npm run readme` from grafana/alerts. Load this or Prometheus' rules, never both.\n";

function written(rule: Rule) {
  const texts = [rule.summary, rule.description];
  const side = (['card', 'reasons'] as const).filter((word) => says(word, ...texts)).map((word) => SIDE_QUERIES[word]);
  return {
    uid: uidOf(rule),
    title: rule.name,
    condition: 'C',
    data: [{ refId: 'A', expr: rule.expr }, ...side].map(prometheusQuery).concat(condition()),
    // No result is the good case. Two separate rules report that a gate is gone, so a missing series hides nothing.
    noDataState: 'OK',
    // When Prometheus is down one alert says so, not one per rule.
    execErrState: rule.name === 'TuneplaneGateDown' ? 'Error' : 'OK',
    for: rule.for,
    annotations: {
      summary: forGrafana(rule.summary),
      description: forGrafana(rule.description),
      runbook_url: runbookUrl(rule),
    },
    labels: labelsOf(rule),
    isPaused: false,
  };
}

/** At most 40 letters, digits and dashes, and stable and unique per rule: Grafana keys its state by this. */
function uidOf(rule: Rule): string {
  return rule.name.replaceAll(/(?<=[a-z])[A-Z]/g, '-$&').toLowerCase();
}

function prometheusQuery({ refId, expr }: { readonly refId: string; readonly expr: string }) {
  return query(refId, DATASOURCE_UID, {
    datasource: { type: 'prometheus', uid: DATASOURCE_UID },
    expr,
    instant: true,
    range: false,
  });
}

/** Every series of the rule's own query is an alert, whatever its value: many of them are 0. */
function condition() {
  return query('C', '__expr__', {
    datasource: { type: '__expr__', uid: '__expr__' },
    type: 'math',
    expression: 'is_number($A)',
  });
}

function query(refId: string, datasourceUid: string, model: Readonly<Record<string, unknown>>) {
  return {
    refId,
    relativeTimeRange: { from: 600, to: 0 },
    datasourceUid,
    model: { refId, intervalMs: 1000, maxDataPoints: 43200, ...model },
  };
}
