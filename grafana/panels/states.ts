/** The name, colour and number of each card state. */

import { MappingType, type DynamicConfigValue, type ValueMap } from '@grafana/grafana-foundation-sdk/dashboard';
import { METRICS } from '../../src/metrics/names.js';
import { CARD_STATES, type CardState } from '../../src/model/card.js';
import { STATE_COLOURS } from '../../src/model/colours.js';
import { DOUBTFUL } from './colours.js';
import { onCard } from './selectors.js';

/** The dashboards' state of a card that no gate reports now. The gate has no such state. */
export const NOT_SEEN = 'not_seen';

interface Shown {
  /** As in the label. */
  readonly state: CardState | typeof NOT_SEEN;
  readonly text: string;
  readonly colour: string;
  /** A state timeline displays numbers. */
  readonly number: number;
}

const SHOWN: readonly Shown[] = [
  ...CARD_STATES.map((state, place) => ({
    state,
    text: state === 'job_held' ? 'held by a job' : state,
    colour: STATE_COLOURS[state].dark,
    number: place + 1,
  })),
  { state: NOT_SEEN, text: 'not seen', colour: DOUBTFUL, number: 0 },
];

/** Names and colours for a column with the state label. */
export function stateMapping(): ValueMap {
  return mapping(({ state }) => state);
}

/** The same for `stateNumber`. */
export function stateNumberMapping(): ValueMap {
  return mapping(({ number }) => String(number));
}

/** Name and colour for each series named after a state. */
export function stateOverrides(): { readonly name: string; readonly properties: DynamicConfigValue[] }[] {
  return SHOWN.map(({ state, text, colour }) => ({
    name: state,
    properties: [
      { id: 'displayName', value: text },
      { id: 'color', value: { mode: 'fixed', fixedColor: colour } },
    ],
  }));
}

/** The state of the chosen card as one number over time; 0 where no gate reports it. */
export function stateNumber(): string {
  const each = CARD_STATES.map((state, place) => `${place + 1} * ${onCard(METRICS.cardState, { state })}`);
  return `max(${each.join(' or ')}) or vector(0)`;
}

function mapping(key: (shown: Shown) => string): ValueMap {
  const options = SHOWN.map((shown, index) => [key(shown), { text: shown.text, color: shown.colour, index }] as const);
  return { type: MappingType.ValueToText, options: Object.fromEntries(options) };
}
