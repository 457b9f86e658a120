/** All findings about a card in one text, since a table row has room for one. */

import { METRICS, type Metric } from '../../src/metrics/names.js';
import { HEALTH_REASONS, WARNING_REASONS } from '../../src/model/card.js';
import { CARD_KEY, onFleet } from './selectors.js';

/**
 * For each card one series with a label `reasons`, as `ecc_uncorrected, missing`; without the label where there are no
 * findings. Where findings are unknown, because no health column was read, the text says so.
 */
export function reasonsOfCards(): string {
  return oneText('reasons', [...told(METRICS.cardUnhealthy, HEALTH_REASONS), NOT_READ]);
}

/** The same for the warnings, in a label `warnings`. */
export function warningsOfCards(): string {
  return oneText('warnings', told(METRICS.cardWarning, WARNING_REASONS));
}

/** The cards with a finding, and its words. */
interface Told {
  readonly label: string;
  readonly words: string;
  readonly cards: string;
}

const CARDS = `group by (${CARD_KEY}) (${onFleet(METRICS.cardState)})`;
const UNHEALTHY = onFleet(METRICS.cardUnhealthy);

// These do not come from a column, so a card has them whether or not its health was read.
const READ = UNHEALTHY.replace('}', ',reason!~"driver_error|missing|xid"}');
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
 * PromQL cannot concatenate values of several series, but it can copy a label from one series to its match. So each finding
 * becomes a label with its words or an empty one, all of them are copied to the card, and then joined.
 */
function oneText(name: string, findings: readonly Told[]): string {
  const carried = findings.reduce((soFar, { label, words, cards }) => {
    const found = `label_replace(${cards}, "${label}", "${words}, ", "", "")`;
    return `${soFar}\n* on (${CARD_KEY}) group_left (${label}) (${found} or on (${CARD_KEY}) ${CARDS})`;
  }, CARDS);
  const joined = `label_join(${carried},\n"${name}", "", ${findings.map(({ label }) => `"${label}"`).join(', ')})`;
  return `group by (${CARD_KEY}, ${name}) (label_replace(${joined}, "${name}", "$1", "${name}", "(.*), "))`;
}
