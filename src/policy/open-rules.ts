import { CannotStart } from '../model/cannot-start.js';
import type { Clock, Log } from '../model/ports/outside.js';
import type { RuleFile } from '../model/ports/rule-files.js';
import { doubtfulRules } from './doubtful-rules.js';
import { openPolicyFile } from './policy-file.js';
import { RULES_WITHOUT_A_FILE, type PolicyRules } from './policy-rules.js';

/** What a request may ask for at the moment; null: nothing at all. */
export type RulesNow = () => PolicyRules | null | Promise<PolicyRules | null>;

export interface OpenRules {
  readonly now: RulesNow;
  /** Null where there is none. */
  readonly file: RuleFile | null;
}

/** The current rules of the policy file, for each request. Throws `CannotStart` on a bad file. */
export async function openRules(path: string | null, outside: { clock: Clock; log: Log }): Promise<OpenRules> {
  if (path === null) return { now: () => RULES_WITHOUT_A_FILE, file: null };
  const opened = await openPolicyFile(path, outside);
  if (opened.kind === 'bad') throw new CannotStart(`TUNEPLANE_POLICY_FILE: ${opened.problems.join('; ')}`);
  const { file } = opened;
  const rules = await file.current();
  for (const doubt of rules === null ? [] : await doubtfulRules(rules)) outside.log.warn({ policy: path }, doubt);
  return { now: () => file.current(), file };
}
