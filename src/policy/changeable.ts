/** Who could replace a folder by a symbolic link between the check of a path and its mount. */

import { ancestorsOf } from './mount-roots.js';
import type { LookAt, PathFacts } from './paths-on-disk.js';

/**
 * The first folder on the way to a path that someone other than root could change, and why; null where there is none, so
 * that the checked path cannot change. An ACL that lets others write shows in the group's bits, which are its mask (acl(5)).
 */
export async function changeableParent(path: string, lookAt: LookAt): Promise<string | null> {
  for (const folder of ancestorsOf(path)) {
    const why = changeable(await lookAt(folder));
    if (why !== null) return `${folder} ${why}`;
  }
  return null;
}

function changeable(facts: PathFacts | null): string | null {
  if (facts === null) return 'cannot be looked at';
  if (facts.kind !== 'folder') return 'is no folder any more';
  if (facts.owner !== 0) return `belongs to the user ${facts.owner}, not to root`;
  if ((facts.mode & 0o022) !== 0) return `can be written by others (mode ${facts.mode.toString(8)})`;
  return null;
}
