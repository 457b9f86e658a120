import { CannotStart } from '../model/cannot-start.js';
import type { Log } from '../model/ports/outside.js';
import { openPolicyFile } from './policy-file.js';
import { RULES_WITHOUT_A_FILE, type PolicyRules } from './policy-rules.js';

/** What a request may ask for, as the policy file says now. Throws `CannotStart` on a bad file. */
export async function openRules(file: string | null, log: Log): Promise<() => PolicyRules | Promise<PolicyRules>> {
  if (file === null) return () => RULES_WITHOUT_A_FILE;
  const opened = await openPolicyFile(file, log);
  if (opened.kind === 'bad') throw new CannotStart(`TUNEPLANE_POLICY_FILE: ${opened.problems.join('; ')}`);
  return () => opened.file.current();
}
