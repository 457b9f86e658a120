import type { Clock } from '../model/ports/outside.js';
import type { Environment, Settings } from '../settings/settings.js';

/** What is checked: a gate that would run with these settings, in this environment, as this user. */
export interface Installation {
  readonly settings: Settings;
  readonly env: Environment;
  /** What is wrong with the text of a policy file, in sentences. */
  readonly policyProblems: (path: string, text: string) => readonly string[];
  /** An image to start a container from that is given a card; null: start nothing. */
  readonly tryImage: string | null;
  readonly clock: Clock;
}
