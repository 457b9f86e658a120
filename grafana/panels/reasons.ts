/** All that is found about a card as one text, since a row of a table has room for one. */

import { METRICS, type Metric } from '../../src/metrics/names.js';
import { HEALTH_REASONS, WARNING_REASONS } from '../../src/model/card.js';
import { CARD_KEY, onFleet } from './selectors.js';

/**
 * For each card one series with a label `reasons`, as `ecc_uncorrected, missing`; without it where nothing is found. Where
 * nothing could be found, since no health column was read, the text says so.
 */
export function reasonsOfCards(): string {
  return oneText('reasons', [...told(METRICS.cardUnhealthy, HEALTH_REASONS), NOT_READ]);
}

/** The same for what leaves a card in use, in a label `warnings`. */
export function warningsOfCards(): string {
  return oneText('warnings', told(METRICS.cardWarning, WARNING_REASONS));
}

/** Cards of which something is true, and its words. */
interface Told {
  readonly label: string;
  readonly words: string;
  readonly cards: string;
}

const CARDS = `group by (${CARD_KEY}) (${onFleet(METRICS.cardState)})`;
const UNHEALTHY = onFleet(METRICS.cardUnhealthy);

// These two are not read from a column, so they speak of every card.
const READ = UNHEALTHY.replace('}', ',reason!~"driver_error|missing"}');
const NOT_READ: Told = {
  label: 'not_read',
  words: 'health not read',
  cards: `${CARDS} unless on (${CARD_KEY}) (${READ} or ${UNHEALTHY} == 1)`,
};

function told(metric: Metric, reasons: readonly string[]): Told[] {
  return reasons.map((reason) => ({
    label: reason,
    words: reason,
    cards: `max by (${CARD_KEY}) (${onFleet(metric, { reason })}) == 1`,
  }));
}

/**
 * PromQL cannot gather texts, but it can carry a label from one series over to its partner. So each finding is a label
 * with its words or empty, all of them are carried over to the card, and then joined.
 */
function oneText(name: string, findings: readonly Told[]): string {
  const carried = findings.reduce((soFar, { label, words, cards }) => {
    const found = `label_replace(${cards}, "${label}", "${words}, ", "", "")`;
    return `${soFar}\n* on (${CARD_KEY}) group_left (${label}) (${found} or on (${CARD_KEY}) ${CARDS})`;
  }, CARDS);
  const joined = `label_join(${carried},\n"${name}", "", ${findings.map(({ label }) => `"${label}"`).join(', ')})`;
  return `group by (${CARD_KEY}, ${name}) (label_replace(${joined}, "${name}", "$1", "${name}", "(.*), "))`;
}
