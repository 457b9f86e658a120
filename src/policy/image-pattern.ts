/** Which images a policy's patterns match. Full names are compared, since `ubuntu:5000/x` is not the image `ubuntu`. */

import { isRegistry } from '../model/image-name.js';
import { matches } from './wildcard.js';

/**
 * Whether any pattern matches an image. Both are compared with their registry written out, so that `ubuntu:*` is
 * `docker.io/library/ubuntu:*` and reaches no registry of that name. Docker may read a few hex digits as an image id if no
 * image has that name. Such a text has no registry, and only `*` allows it; with a tag written out it is a name.
 */
export function isAllowedImage(patterns: readonly string[], image: string): boolean {
  if (patterns.includes('*')) return true;
  if (/^(?:sha256:)?[0-9a-f]{1,64}$/.test(image)) return false;
  const whole = withRegistry(image);
  // An image without tag or digest is pulled as `latest`, and a pattern may use either spelling.
  const spellings = whole.lastIndexOf(':') > whole.lastIndexOf('/') ? [whole] : [whole, `${whole}:latest`];
  return patterns.some((pattern) => spellings.some((spelling) => isSame(withRegistry(pattern), spelling)));
}

/**
 * The registry separately: a `*` in a pattern's registry must not match into the name after it, which the image's owner
 * chooses.
 */
function isSame(pattern: string, image: string): boolean {
  const [registries, names] = split(pattern);
  const [registry, name] = split(image);
  return matches(registries, registry) && matches(names, name);
}

function split(whole: string): readonly [string, string] {
  const slash = whole.indexOf('/');
  return [whole.slice(0, slash), whole.slice(slash + 1)];
}

/** A first part that contains `*` counts as a registry too. Host names ignore case. */
function withRegistry(name: string): string {
  const slash = name.indexOf('/');
  const first = slash === -1 ? '' : name.slice(0, slash);
  if (!first.includes('*') && !isRegistry(first)) return `docker.io/${slash === -1 ? 'library/' : ''}${name}`;
  const rest = name.slice(slash + 1);
  const registry = first.toLowerCase();
  if (registry !== 'docker.io' && registry !== 'index.docker.io') return `${registry}/${rest}`;
  return `docker.io/${rest.includes('/') ? '' : 'library/'}${rest}`;
}
