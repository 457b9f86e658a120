/** The building blocks of the rules' expressions. */

import { METRICS } from '../../src/metrics/names.js';

/** The labels that identify a machine in Prometheus. */
export const MACHINE = 'job, instance';

/** The labels that identify a card: not its index, which moves, and nothing that changes with its load or its holder. */
export const CARD = `${MACHINE}, uuid`;

/** A gap that no alert should notice: a restart of the gate and the two scrapes around it. */
const GAP = '2m';

/** How far back to look for a card's last known state. */
const MEMORY = '1d';

/** The step of the subquery over that period; each step takes the last value in it, so that no value is missed. */
const STEP = '5m';

/** The metric with these label matchers, as `name{a="x",b=~"y|z"}`. */
export function select(metric: { readonly name: string }, ...matchers: readonly string[]): string {
  return matchers.length === 0 ? metric.name : `${metric.name}{${matchers.join(', ')}}`;
}

/**
 * The value now or, right after a restart of the gate, the one before: an alert must not end and fire again because of that.
 */
export function recent(selector: string): string {
  return `last_over_time(${selector}[${GAP}])`;
}

/**
 * The largest value by these labels, now or, where no look succeeds now, at the last one that did. A range over the plain
 * series would keep the value of an index that a card no longer has, and load a day of samples at once.
 */
export function lastKnown(selector: string, by: string): string {
  const inAStep = `max by (${by}) (last_over_time(${selector}[${STEP}]))`;
  return `(
  max by (${by}) (${selector})
  or
  ${inAStep}
  or
  last_over_time((${inAStep})[${MEMORY}:${STEP}])
)`;
}

/**
 * For `and`: the cards that are part of their machine. A page that lists its cards decides; without one, all cards seen
 * before.
 */
export function listed(): string {
  const info = METRICS.cardInfo.name;
  return `on (${CARD}) (
  group by (${CARD}) (${info})
  or
  (
    group by (${CARD}) (last_over_time(${info}[${MEMORY}]))
    unless on (${MACHINE})
    group by (${MACHINE}) (${METRICS.cardsExpected.name})
  )
)`;
}

/** The findings of each card as far as known, one series per card and reason, always 1. */
export function badReasons(...matchers: readonly string[]): string {
  return `${lastKnown(select(METRICS.cardUnhealthy, ...matchers), `${CARD}, reason`)} == 1`;
}

/** Name, bus address and index of each card, as shown now or, if the page is gone, last. */
export function cardNames(...matchers: readonly string[]): string {
  const info = select(METRICS.cardInfo, ...matchers);
  const by = `${CARD}, name, pci_bus_id, index`;
  return `max by (${by}) (${info})
or
(
  max by (${by}) (last_over_time(${info}[${MEMORY}]))
  unless on (${CARD})
  group by (${CARD}) (${info})
)`;
}

/** The same for one card, chosen by the matchers; current values take precedence. */
export function oneName(...matchers: readonly string[]): string {
  const info = select(METRICS.cardInfo, ...matchers);
  // Matched on no label at all: the right side counts only where the left has no result.
  return `${info} or on () last_over_time(${info}[${MEMORY}])`;
}
