/** A page for one scrape: every series on it is set once, and a series without a value is left out. */

import { Counter, Gauge, Registry } from 'prom-client';
import { plainWithin } from '../text/plain.js';
import type { Metric } from './names.js';

/** One series: its labels and its value. Null or NaN means that there is no value. */
export type Series = readonly [labels: Readonly<Record<string, string>>, value: number | boolean | null];

/** A registry for this page, and a function to add a metric to it. */
export interface FreshPage {
  readonly registry: Registry;
  put(metric: Metric, series: readonly Series[]): void;
}

/** An empty page. A metric without any value leaves no trace, not even its help. */
export function createFreshPage(): FreshPage {
  const registry = new Registry();
  return {
    registry,
    put(metric, series) {
      const numbers = series.flatMap(([labels, value]) => {
        const number = Number(value);
        return value === null || !Number.isFinite(number) ? [] : [{ labels: cleaned(labels), number }];
      });
      if (numbers.length === 0) return;
      const options = { name: metric.name, help: metric.help, labelNames: [...metric.labels], registers: [registry] };
      if (metric.type === 'counter') {
        const counter = new Counter(options);
        for (const { labels, number } of numbers) counter.inc(labels, number);
      } else {
        const gauge = new Gauge(options);
        for (const { labels, number } of numbers) gauge.set(labels, number);
      }
    },
  };
}

/** No card and no run id has a longer label value. */
const LONGEST_VALUE = 200;

/** prom-client escapes what the format requires; other control characters would still end up in terminals and logs. */
function cleaned(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, plainWithin(value, LONGEST_VALUE)]));
}
