/** The colours of the card states as custom properties, with the same values as in the dashboards. */

import { CARD_STATES } from '../model/card.js';
import { STATE_COLOURS } from '../model/colours.js';

/** `--free` and so on for a light and a dark background, and `--state` for elements with `data-state`. */
export function stateColoursCss(): string {
  const marked = CARD_STATES.map((state) => `[data-state='${state}'] { --state: var(${propertyOf(state)}); }\n`);
  return `${rootOf('light')}\n@media (prefers-color-scheme: dark) {\n${rootOf('dark')}\n}\n${marked.join('')}`;
}

function rootOf(ground: 'light' | 'dark'): string {
  return `:root { ${CARD_STATES.map((state) => `${propertyOf(state)}: ${STATE_COLOURS[state][ground]};`).join(' ')} }`;
}

function propertyOf(state: string): string {
  return `--${state.replaceAll('_', '-')}`;
}
