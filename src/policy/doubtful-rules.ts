/** What a policy allows but likely did not mean to; each a sentence for the operator. */

import { changeableParent } from './changeable.js';
import { writtenRoots } from './mount-roots.js';
import { lookAtPath, type LookAt } from './paths-on-disk.js';
import type { PolicyRules } from './policy-rules.js';

export async function doubtfulRules(rules: PolicyRules, lookAt: LookAt = lookAtPath): Promise<readonly string[]> {
  const roots = writtenRoots(rules);
  const writable = roots.filter(({ readOnly }) => !readOnly).map(({ written }) => written);
  const changeable = await Promise.all(
    roots.map(async ({ written, kind, folder }) => {
      const why = await changeableParent(kind === 'each' ? `${folder}/x` : folder, lookAt);
      if (why === null) return null;
      if (kind === 'each') return `no folder of the root ${written} can ever be mounted: ${why}`;
      return `the root ${written} can be turned into a link to anywhere by others than root: ${why}`;
    }),
  );
  return [...(writable.length > 0 && rules.users.includes('*') ? [asRoot(writable)] : []), ...changeable].filter(
    (sentence) => sentence !== null,
  );
}

function asRoot(roots: readonly string[]): string {
  const named = roots.join(', ');
  return `jobs may write ${named} as root, since the policy says nothing of users: a program with the set-uid bit that one leaves there is root's for everybody on the machine. Name the users, or mount it nosuid and nodev`;
}
