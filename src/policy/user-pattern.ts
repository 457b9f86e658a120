/** Which users a policy's patterns match: the user and the group are matched separately. */

import { matches } from './wildcard.js';

/**
 * Whether the patterns allow this user. `1000:*` is user 1000 with any group; a pattern without a group requires the group
 * of the same name. A request without a group gets the image's groups (Docker reads the image's own /etc/passwd and
 * /etc/group), so only a pattern for any group allows it; a request without a user gets the image's user, so only `*` allows
 * it.
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

/** Why the patterns refuse a user, for the caller. */
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
