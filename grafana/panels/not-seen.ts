/** What a gate that gives no answer leaves behind. Its series are gone from one moment to the next, which must not look like a machine at rest. */

import { METRICS } from '../../src/metrics/names.js';
import { onFleet, UP } from './selectors.js';

/** How long a gate that is silent is remembered with what it last said; as long as it is a target. */
export const MEMORY = '1d';

/** Targets that show no cards: the gate is down, or it answers and could not make a look. */
export const SILENT = `(${UP} unless on (job, instance) ${onFleet(METRICS.cardsExpected)})`;

/** How many cards the silent gates should have; 0 where all answer, nothing where no gate is a target. */
export const CARDS_NOT_SEEN =
  `sum(last_over_time(${onFleet(METRICS.cardsExpected)}[${MEMORY}]) and on (job, instance) ${SILENT})` +
  ` or 0 * count(${UP})`;
