/** The series that a panel reads: of the gates, or of the one card, that the variables select. */

import type { Metric } from '../../src/metrics/names.js';

/** The labels that identify a card: a uuid may be unreadable, and an index is unique on one machine only. */
export const CARD_KEY = 'job, instance, uuid, index';

type Labels = Readonly<Record<string, string>>;

// `=~`, since on the dashboard of all machines these variables can have several values.
const FLEET = 'job=~"$job",instance=~"$instance"';
const CARD = 'job="$job",instance="$instance",uuid="$uuid"';

/** Whether Prometheus could scrape a gate (1) or not (0); written by Prometheus itself. */
export const UP = `up{${FLEET}}`;

/** The series of a metric on all chosen gates, filtered by `labels`. */
export function onFleet(metric: Metric, labels: Labels = {}): string {
  return `${metric.name}{${FLEET}${more(labels)}}`;
}

/** The quantile `q` of a histogram over all chosen gates, one series for each combination of the labels in `by`. */
export function quantile(q: number, metric: Metric, ...by: readonly string[]): string {
  const hits = `rate(${metric.name}_bucket{${FLEET}}[$__rate_interval])`;
  return `histogram_quantile(${q}, sum by (${['le', ...by].join(', ')}) (${hits}))`;
}

/** The series of a metric on the one chosen card, filtered by `labels`. */
export function onCard(metric: Metric, labels: Labels = {}): string {
  return `${metric.name}{${CARD}${more(labels)}}`;
}

function more(labels: Labels): string {
  return Object.entries(labels)
    .map(([label, value]) => `,${label}="${value}"`)
    .join('');
}
