/** One colour per card state, for page and dashboards. Colour is never the only signal: the state's name is beside it. */

import type { CardState } from './card.js';

/** `#rrggbb` on a light background (white), and on a dark one (Grafana's `#181b1f` or darker). */
export interface StateColour {
  readonly light: string;
  readonly dark: string;
}

/**
 * After Okabe and Ito: green, blue, yellow, vermilion, purple and grey, with lightness adjusted until any two on a
 * background are distinct for red-, green- and blue-blind eyes too, and each has a contrast of 3:1 with it (WCAG 1.4.11). A
 * test checks both.
 */
export const STATE_COLOURS: Readonly<Record<CardState, StateColour>> = {
  job_held: { light: '#215fd4', dark: '#2567e1' },
  excluded: { light: '#3c3c3c', dark: '#a4a4b0' },
  unhealthy: { light: '#ba3b08', dark: '#e36711' },
  external: { light: '#d87502', dark: '#f9d12a' },
  unknown: { light: '#8a5286', dark: '#975b7d' },
  free: { light: '#18a689', dark: '#8bf4d5' },
};
