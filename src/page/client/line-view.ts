/** The runs that wait for cards, longest wait first. */

import { byId, keyedList, make, setText, show, type Row } from './dom.js';
import type { Place } from './status.js';
import { counted, since } from './words.js';

interface Shown {
  readonly place: Place;
  readonly nowMs: number;
}

/** Returns the function that draws them. */
export function lineView(): (line: readonly Place[], nowMs: number) => void {
  const draw = keyedList<Shown>(byId('line'), ({ place }) => place.run_id, placeRow);
  return (line, nowMs) => {
    draw(line.map((place) => ({ place, nowMs })));
    show(byId('line-panel'), line.length > 0);
  };
}

function placeRow(): Row<Shown> {
  const position = make('span', 'position');
  const what = make('span', 'what');
  const why = make('span', 'why');
  return {
    element: make('li', '', position, what, why),
    draw({ place, nowMs }) {
      setText(position, String(place.position));
      setText(what, place.run_id);
      const waits = `${counted(place.count, 'card')} · by ${place.principal} · waits for ${since(place.since, nowMs)}`;
      setText(why, place.image === '' ? waits : `${waits} · ${place.image}`);
    },
  };
}
