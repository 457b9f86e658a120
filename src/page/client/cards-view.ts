/** The cards as a grid. */

import { sayingsOf, type Saying } from './card-sayings.js';
import { byId, keyedList, make, setAttribute, setText, show, type Row } from './dom.js';
import type { Card, Cards } from './status.js';
import { loadWords, memoryWords, STATE_WORDS, shortUuid } from './words.js';

interface Shown {
  readonly card: Card;
  /** A key for cards that have neither uuid nor index. */
  readonly place: number;
  readonly nowMs: number;
}

/** Returns the function that draws them. */
export function cardsView(): (cards: Cards, nowMs: number) => void {
  const draw = keyedList<Shown>(byId('cards'), keyOf, cardRow);
  return ({ cards }, nowMs) => {
    draw(cards.map((card, place) => ({ card, place, nowMs })));
    show(byId('cards'), cards.length > 0);
    show(byId('no-cards'), cards.length === 0);
  };
}

function keyOf({ card, place }: Shown): string {
  return card.uuid ?? `${card.index ?? 'at'} ${place}`;
}

function cardRow(): Row<Shown> {
  const number = make('span', '');
  const swatch = make('span', 'swatch');
  const state = make('span', 'state');
  const name = make('p', 'name');
  const fill = make('div', '');
  const bar = make('div', 'bar', fill);
  const memory = make('p', 'memory');
  const load = make('p', 'load');
  const says = make('ul', 'says');
  const numberLine = make('span', 'number', make('small', '', 'Card '), number);
  const element = make('li', 'card', make('h3', '', numberLine, swatch, state), name, bar, memory, load, says);
  const drawSays = keyedList<readonly [string, Saying]>(says, ([key]) => key, sayingRow);
  // The text below has the same content: a screen reader should not read it twice.
  bar.setAttribute('aria-hidden', 'true');
  return {
    element,
    draw({ card, nowMs }) {
      const { index, uuid, memory_used_bytes: used, memory_size_bytes: size } = card;
      setAttribute(element, 'data-state', card.state);
      setText(number, String(index ?? shortUuid(uuid ?? 'without a number')));
      setText(state, STATE_WORDS[card.state]);
      setText(name, card.name ?? 'Name not read');
      setText(memory, memoryWords(used, size));
      setText(load, loadWords(card));
      const percent = used === null || size === null || size <= 0 ? 0 : Math.min(100, (100 * used) / size);
      const width = `${percent.toFixed(1)}%`;
      if (fill.style.width !== width) fill.style.width = width;
      const sayings = sayingsOf(card, nowMs);
      show(says, sayings.length > 0);
      drawSays(sayings.map((saying, at) => [`${at} ${saying.kind} ${saying.what}`, saying]));
    },
  };
}

function sayingRow(): Row<readonly [string, Saying]> {
  const what = make('b', '');
  const detail = make('span', '');
  const element = make('li', '', what, detail);
  return {
    element,
    draw([, saying]) {
      setAttribute(element, 'class', saying.kind);
      setText(what, saying.what);
      setText(detail, saying.detail);
    },
  };
}
