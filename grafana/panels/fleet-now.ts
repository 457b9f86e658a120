/** The current condition of all machines, in large numbers. */

import { BigValueTextMode } from '@grafana/grafana-foundation-sdk/common';
import type { PanelBuilder as Stat } from '@grafana/grafana-foundation-sdk/stat';
import type { PanelBuilder as TimeSeries } from '@grafana/grafana-foundation-sdk/timeseries';
import { METRICS } from '../../src/metrics/names.js';
import { BAD, badAboveZero, GOOD } from './colours.js';
import { CARDS_NOT_SEEN } from './not-seen.js';
import { bigNumbers, stackedLines } from './panels.js';
import { CARD_KEY, onFleet, UP } from './selectors.js';
import { NOT_SEEN, stateOverrides } from './states.js';
import { course, now } from './target.js';

const BY_STATE = `sum by (state) (${onFleet(METRICS.cards)})`;

/** Which gates answer: every other panel depends on them. */
export function gates(): Stat {
  return bigNumbers({
    title: 'Gates',
    description:
      'Gates that Prometheus reaches, and gates that it does not. Of the cards of a gate that is down nothing is known: they are "not seen".',
    width: 4,
    height: 5,
    unit: 'none',
    noValue: 'no gate is scraped',
  })
    .textMode(BigValueTextMode.ValueAndName)
    .withTarget(now(`sum(${UP})`, 'up'))
    .withTarget(now(`count(${UP} == 0) or 0 * count(${UP})`, 'down'))
    .overrideByName('up', [{ id: 'thresholds', value: steps([null, BAD], [1, GOOD]) }])
    .overrideByName('down', [{ id: 'thresholds', value: steps([null, GOOD], [1, BAD]) }]);
}

/** The six states, and the cards of silent gates. They add up to the number of cards that should exist. */
export function states(): Stat {
  return withStates(
    bigNumbers({
      title: 'Cards by state',
      description:
        'Each card is in exactly one state. "not seen" are cards of gates that show no cards: with one of them down the other numbers are too small, not fine.',
      width: 12,
      height: 5,
      unit: 'none',
      noValue: 'no gate is scraped',
    })
      .textMode(BigValueTextMode.ValueAndName)
      .withTarget(now(BY_STATE, '{{state}}'))
      .withTarget(now(CARDS_NOT_SEEN, NOT_SEEN)),
  );
}

/** Cards that need attention, including held ones. */
export function findings(): Stat {
  const seen = onFleet(METRICS.cardState);
  return bigNumbers({
    title: 'To be looked at',
    description:
      'Cards with a reason to be unhealthy, those that a job holds too; cards with more than one claim (never right); cards of which nobody can tell the state. No number: no gate shows cards, or none can list its containers.',
    width: 8,
    height: 5,
    unit: 'none',
    noValue: 'no gate shows cards',
  })
    .textMode(BigValueTextMode.ValueAndName)
    .thresholds(badAboveZero())
    .withTarget(
      now(
        `count(max by (${CARD_KEY}) (${onFleet(METRICS.cardUnhealthy)}) == 1) or 0 * count(${seen})`,
        'unhealthy, held too',
      ),
    )
    .withTarget(
      now(`count(${onFleet(METRICS.cardClaims)} > 1) or 0 * count(${onFleet(METRICS.cardClaims)})`, 'claimed twice'),
    )
    .withTarget(now(`sum(${onFleet(METRICS.cards, { state: 'unknown' })})`, 'unknown'));
}

/** The same as `states`, over time. */
export function statesOverTime(): TimeSeries {
  return withStates(
    stackedLines({
      title: 'Cards by state over time',
      description:
        'The states on top of each other. As high as there should be cards; a gate that is silent leaves its cards as "not seen" for a day.',
      width: 16,
      height: 9,
      unit: 'none',
      noValue: 'no gate was scraped',
    })
      .decimals(0)
      .withTarget(course(BY_STATE, '{{state}}'))
      .withTarget(course(CARDS_NOT_SEEN, NOT_SEEN)),
  );
}

/** Waiting runs, next to what they wait for: a full machine alone is no problem. */
export function waiting(): TimeSeries {
  return stackedLines({
    title: 'Runs waiting',
    description:
      'Runs with a place in line, by machine. Waiting while cards are free is worth a look; waiting for a full machine is not.',
    width: 8,
    height: 9,
    unit: 'none',
    noValue: 'no gate answered',
  })
    .decimals(0)
    .withTarget(course(`sum by (instance) (${onFleet(METRICS.runsWaiting)})`, '{{instance}}'));
}

function withStates<Panel extends Stat | TimeSeries>(panel: Panel): Panel {
  for (const { name, properties } of stateOverrides()) panel.overrideByName(name, properties);
  return panel;
}

function steps(...each: readonly (readonly [from: number | null, color: string])[]): object {
  return { mode: 'absolute', steps: each.map(([value, color]) => ({ value, color })) };
}
