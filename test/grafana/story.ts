import type { Chapter } from './gate-history.js';
import type { Check } from './promtool.js';

/** What happens on a machine, and which alerts it gives. */
export interface Story {
  /** The rule that it is about. */
  readonly of: string;
  /** A sentence that is true. */
  readonly says: string;
  readonly chapters: readonly Chapter[];
  readonly checks: readonly Check[];
}

/** A scrape interval more than the gate needs to start again. */
export const RESTART: Chapter = { minutes: 0.75, gate: 'down' };
