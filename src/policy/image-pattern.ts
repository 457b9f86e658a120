/** Which images a policy's patterns mean. Compared in full, as `ubuntu:5000/x` is not the image `ubuntu`. */

import { isRegistry } from '../model/image-name.js';
import { matches } from './wildcard.js';

/**
 * Whether an image is one of those that the patterns allow. Both are compared with their registry written out, so that `ubuntu:*`
 * is `docker.io/library/ubuntu:*` and reaches no registry of that name. What Docker may read as an image's id, which a few hex digits
 * are where no image has them for a name, has no registry, and only `*` allows it: with its tag written out a name is a name.
 */
export function isAllowedImage(patterns: readonly string[], image: string): boolean {
  if (patterns.includes('*')) return true;
  if (/^(?:sha256:)?[0-9a-f]{1,64}$/.test(image)) return false;
  const whole = withRegistry(image);
  // A name without a tag or digest is pulled as `latest`, and may be allowed in either spelling.
  const spellings = whole.lastIndexOf(':') > whole.lastIndexOf('/') ? [whole] : [whole, `${whole}:latest`];
  return patterns.some((pattern) => spellings.some((spelling) => isSame(withRegistry(pattern), spelling)));
}

/** The registry for itself: a `*` in a pattern's registry must not reach into the name behind it, which its owner chooses. */
function isSame(pattern: string, image: string): boolean {
  const [registries, names] = split(pattern);
  const [registry, name] = split(image);
  return matches(registries, registry) && matches(names, name);
}

function split(whole: string): readonly [string, string] {
  const slash = whole.indexOf('/');
  return [whole.slice(0, slash), whole.slice(slash + 1)];
}

/** A `*` in the first part is taken for a registry too. Hosts are the same in upper and lower case. */
function withRegistry(name: string): string {
  const slash = name.indexOf('/');
  const first = slash === -1 ? '' : name.slice(0, slash);
  if (!first.includes('*') && !isRegistry(first)) return `docker.io/${slash === -1 ? 'library/' : ''}${name}`;
  const rest = name.slice(slash + 1);
  const registry = first.toLowerCase();
  if (registry !== 'docker.io' && registry !== 'index.docker.io') return `${registry}/${rest}`;
  return `docker.io/${rest.includes('/') ? '' : 'library/'}${rest}`;
}
