import type { Chapter } from './gate-history.js';
import type { Check } from './promtool.js';

/** A course of events on a machine, and the alerts that it causes. */
export interface Story {
  /** The rule under test. */
  readonly of: string;
  /** A true sentence, the test's title. */
  readonly says: string;
  readonly chapters: readonly Chapter[];
  readonly checks: readonly Check[];
}

/** A scrape interval longer than the gate needs to restart. */
export const RESTART: Chapter = { minutes: 0.75, gate: 'down' };
