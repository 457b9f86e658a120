/** Which images a policy's patterns mean. Compared in full, as `ubuntu:5000/x` is not the image `ubuntu`. */

import { matches } from './wildcard.js';

/**
 * Whether an image is one of those that the patterns allow. Both are compared with their registry written out, so that `ubuntu:*`
 * is `docker.io/library/ubuntu:*` and reaches no registry of that name. An image given by its id has no name, and only `*` allows it.
 */
export function isAllowedImage(patterns: readonly string[], image: string): boolean {
  if (patterns.includes('*')) return true;
  if (/^(?:sha256:)?[0-9a-f]{12,64}$/.test(image)) return false;
  const whole = withRegistry(image);
  // A name without a tag or digest is pulled as `latest`, and may be allowed in either spelling.
  const spellings = whole.lastIndexOf(':') > whole.lastIndexOf('/') ? [whole] : [whole, `${whole}:latest`];
  return patterns.some((pattern) => spellings.some((spelling) => matches(withRegistry(pattern), spelling)));
}

/** Docker's own rule: the first part is a registry when it holds a dot or a colon or is `localhost`. A `*` in it is taken as one too. */
function withRegistry(name: string): string {
  const slash = name.indexOf('/');
  const first = slash === -1 ? '' : name.slice(0, slash);
  if (!/[.:*]|^localhost$/.test(first)) return `docker.io/${slash === -1 ? 'library/' : ''}${name}`;
  const rest = name.slice(slash + 1);
  if (first !== 'docker.io' && first !== 'index.docker.io') return name;
  return `docker.io/${rest.includes('/') ? '' : 'library/'}${rest}`;
}
