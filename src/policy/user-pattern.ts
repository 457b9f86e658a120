/** Which users a policy's patterns mean: the user and the group, each by a pattern of its own. */

import { matches } from './wildcard.js';

/**
 * Whether the patterns allow this user. `1000:*` is the user 1000 with any group; a pattern without a group asks for the group of
 * the same name. Who names no group gets the one that the image says, with all that the image adds to it (Docker reads the image's
 * own /etc/passwd and /etc/group), so only a pattern for any group allows it; who names no user gets the image's, so only `*` does.
 */
export function isAllowedUser(patterns: readonly string[], user: string | undefined): boolean {
  if (patterns.includes('*')) return true;
  if (user === undefined) return false;
  const [name, group] = split(user);
  return patterns.some((pattern) => {
    const [names, groups] = split(pattern);
    if (!matches(names, name)) return false;
    if (group === undefined) return groups === '*';
    return groups === undefined ? group === name : matches(groups, group);
  });
}

/** What is wrong with a user that the patterns do not allow, for whoever asked for it. */
export function userRefusal(patterns: readonly string[], user: string | undefined): string {
  const allowed = `allowed: ${patterns.join(', ') || 'none'}`;
  if (user === undefined) return `the image's own user is not allowed here; ${allowed}`;
  const whole = `${user}:${user}`;
  const alone = !user.includes(':') && isAllowedUser(patterns, whole);
  if (alone) return `the user ${user} leaves its group to the image: name one, as ${whole}; ${allowed}`;
  return `the user ${user} is not allowed here; ${allowed}`;
}

function split(text: string): readonly [string, string?] {
  const colon = text.indexOf(':');
  return colon === -1 ? [text] : [text.slice(0, colon), text.slice(colon + 1)];
}
