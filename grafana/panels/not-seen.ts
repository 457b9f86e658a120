/** Silent gates. Their series vanish from one moment to the next, which must not look like an idle machine. */

import { METRICS } from '../../src/metrics/names.js';
import { onFleet, UP } from './selectors.js';

/** How long to remember the last values of a silent gate, while it is still a target. */
export const MEMORY = '1d';

/** Targets that show no cards: the gate is down, or answers without a look. */
export const SILENT = `(${UP} unless on (job, instance) ${onFleet(METRICS.cardsExpected)})`;

/** How many cards the silent gates should have; 0 if all answer, no value without any target. */
export const CARDS_NOT_SEEN =
  `sum(last_over_time(${onFleet(METRICS.cardsExpected)}[${MEMORY}]) and on (job, instance) ${SILENT})` +
  ` or 0 * count(${UP})`;
