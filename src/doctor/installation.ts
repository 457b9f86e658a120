import type { Clock } from '../model/ports/outside.js';
import type { Environment, Settings } from '../settings/settings.js';

/** What is checked: a gate with these settings, in this environment, as this user. */
export interface Installation {
  readonly settings: Settings;
  readonly env: Environment;
  /** What is wrong with the text of a policy file, in sentences. */
  readonly policyProblems: (path: string, text: string) => readonly string[];
  /** An image from which to start a test container with a card; null: start nothing. */
  readonly tryImage: string | null;
  readonly clock: Clock;
}
