/** The last decisions with their reasons. */

import { byId, keyedList, make, setAttribute, setText, show, type Row } from './dom.js';
import type { Card, Decision, Status } from './status.js';
import { clockTime, counted, since, spaced, shortUuid } from './words.js';

interface Shown {
  readonly decision: Decision;
  readonly cards: readonly Card[];
}

/** Returns the function that draws them. */
export function decisionsView(): (status: Status) => void {
  const draw = keyedList<Shown>(byId('decisions'), keyOf, decisionRow);
  return ({ decisions, cards: { cards } }) => {
    draw(decisions.map((decision) => ({ decision, cards })));
    show(byId('decisions'), decisions.length > 0);
    show(byId('no-decisions'), decisions.length === 0);
  };
}

function keyOf({ decision }: Shown): string {
  const { action, first_at, run_id, principal, outcome, cards } = decision;
  return JSON.stringify([action, first_at, run_id, principal, outcome, cards]);
}

const DONE = new Set(['admitted', 'replayed', 'starting', 'ended', 'removed', 'excluded', 'included', 'forgotten']);

function verdictOf({ outcome }: Decision): 'done' | 'wait' | 'refused' {
  if (outcome === 'wait') return 'wait';
  return DONE.has(outcome) ? 'done' : 'refused';
}

function decisionRow(): Row<Shown> {
  const time = make('time', '');
  const mark = make('span', 'mark');
  const outcome = make('span', '');
  const what = make('span', 'what');
  const why = make('span', 'why');
  return {
    element: make('li', '', time, make('span', 'outcome', mark, outcome), what, why),
    draw({ decision, cards }) {
      const { at, first_at, times, run_id, principal, detail } = decision;
      setAttribute(time, 'datetime', at);
      setText(time, clockTime(at));
      setAttribute(mark, 'data-verdict', verdictOf(decision));
      setText(
        outcome,
        `${spaced(decision.outcome)}${times > 1 ? ` ${times}× in ${since(first_at, Date.parse(at))}` : ''}`,
      );
      setText(what, run_id ?? `by ${principal}`);
      setText(why, [cardsWords(decision, cards), detail].filter(Boolean).join(': '));
    },
  };
}

/** `Cards 0,1`; if none were given, how many were requested. */
function cardsWords({ cards: given, count }: Decision, cards: readonly Card[]): string {
  const numbers = given.map((uuid) => cards.find((card) => card.uuid === uuid)?.index ?? shortUuid(uuid));
  if (numbers.length > 0) return `${numbers.length === 1 ? 'Card' : 'Cards'} ${numbers.join(',')}`;
  return count === null ? '' : `${counted(count, 'card')} asked for`;
}
