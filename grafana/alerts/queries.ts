/** The parts that the rules' expressions are made of. */

import { METRICS } from '../../src/metrics/names.js';

/** What a machine is known by in Prometheus. */
export const MACHINE = 'job, instance';

/** What a card is known by: not its index, which moves, and nothing that changes with its load or its holder. */
export const CARD = `${MACHINE}, uuid`;

/** A gap that no alert should notice: a restart of the gate and two scrapes around it. */
const GAP = '2m';

/** How far back a card's last known state is looked for. */
const MEMORY = '1d';

/** The memory is walked in steps of this length; each step takes the last value in it, so that nothing falls between two. */
const STEP = '5m';

/** The metric with those labels, as `name{a="x",b=~"y|z"}`. */
export function select(metric: { readonly name: string }, ...matchers: readonly string[]): string {
  return matchers.length === 0 ? metric.name : `${metric.name}{${matchers.join(', ')}}`;
}

/** The value now, or where the gate has just been restarted the one before: an alert must not end and begin again over that. */
export function recent(selector: string): string {
  return `last_over_time(${selector}[${GAP}])`;
}

/**
 * The largest value by these labels, now or, where nobody can see now, when it was last seen. A range over the plain series
 * would keep the value of an index that a card no longer has, and a day of all samples in memory at once.
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

/** For `and`: the cards that are part of their machine. A page that lists its cards decides; without one all seen before are. */
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

/** What is wrong with each card as far as is known, one series for each card and reason, always 1. */
export function badReasons(...matchers: readonly string[]): string {
  return `${lastKnown(select(METRICS.cardUnhealthy, ...matchers), `${CARD}, reason`)} == 1`;
}

/** Name, bus address and index of each card, as shown now or, where the page is gone, last. */
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

/** The same for one card, which the matchers name; what is shown now comes first. */
export function oneName(...matchers: readonly string[]): string {
  const info = select(METRICS.cardInfo, ...matchers);
  // Matched on no label at all: the right side counts only where the left gives nothing.
  return `${info} or on () last_over_time(${info}[${MEMORY}])`;
}
