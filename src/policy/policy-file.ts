/** The policy file: parsed, validated with every problem at once, reloaded when it changes. */

import { fieldErrors } from '../http/field-errors.js';
import { openWatchedFile, type FileContent, type Opened } from '../http/watched-file.js';
import type { Clock, Log } from '../model/ports/outside.js';
import { errorWords } from '../text/error-words.js';
import { standingOf, writtenRoots } from './mount-roots.js';
import { policyFile, rulesFrom, type PolicyRules } from './policy-rules.js';
import { isAllowedUser, userRefusal } from './user-pattern.js';

/**
 * Opens the policy file. At the start, a bad file is refused with all its problems. Later the last good version stays in
 * force; but while the file is missing or empty, this gives null, and nothing may be asked for.
 */
export function openPolicyFile(
  path: string,
  outside: { clock: Pick<Clock, 'now'>; log: Log },
): Promise<Opened<PolicyRules | null>> {
  const understand = (text: string): FileContent<PolicyRules> => parsePolicy(path, text);
  return openWatchedFile<PolicyRules | null>({
    path,
    name: 'policy',
    understand,
    nothing: null,
    keepsLast: true,
    ...outside,
  });
}

/** Parses the text of a policy file. */
export function parsePolicy(path: string, text: string): FileContent<PolicyRules> {
  let said: unknown;
  try {
    said = JSON.parse(text);
  } catch (error) {
    return {
      kind: 'bad',
      problems: [`${path}: expected JSON: ${errorWords(error)}`],
    };
  }
  const errors = fieldErrors(policyFile, said);
  if (errors.length > 0) {
    return {
      kind: 'bad',
      problems: errors.map(({ pointer, detail }) => `${path}: ${pointer || 'the file'}: ${detail}`),
    };
  }
  const rules = rulesFrom(policyFile.parse(said));
  const problems = contradictions(rules).map((problem) => `${path}: ${problem}`);
  return problems.length > 0 ? { kind: 'bad', problems } : { kind: 'good', value: rules };
}

/** A default above its own bound would refuse every request that leaves the field out. */
function contradictions(rules: PolicyRules): string[] {
  const { max, defaults, users } = rules;
  const problems: string[] = lostRoots(rules);
  const above = (name: string, value: number | undefined, bound: number | undefined): void => {
    if (value !== undefined && bound !== undefined && value > bound) {
      problems.push(`/defaults/${name}: expected at most /max/${name}, ${bound}; got ${value}`);
    }
  };
  above('shm_bytes', defaults.shmBytes, max.shmBytes);
  above('memory_bytes', defaults.memoryBytes, max.memoryBytes);
  above('cpus', defaults.cpus, max.cpus);
  if (defaults.user !== undefined && !isAllowedUser(users, defaults.user)) {
    problems.push(`/defaults/user: expected one of /users: ${userRefusal(users, defaults.user)}`);
  }
  return problems;
}

/** A root inside one that jobs may write could never be mounted. */
function lostRoots(rules: PolicyRules): string[] {
  const roots = writtenRoots(rules);
  return roots.flatMap((root, at) => {
    const standing = standingOf(root.kind === 'each' ? `${root.folder}/*` : root.folder, roots);
    if (standing.kind !== 'in_writable') return [];
    return [
      `/mounts/${at}/root: ${root.written} lies in ${standing.root.written}, which jobs may write: it can never be mounted`,
    ];
  });
}
