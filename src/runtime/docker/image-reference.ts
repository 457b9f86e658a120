/** Image names, parsed as Docker does. */

import { isRegistry } from '../../model/image-name.js';

/** An image name, parsed as Docker does. */
export interface ImageReference {
  /** `docker.io` where none is named. */
  readonly registry: string;
  /** With the registry as written, without tag or digest: the name for a pull. */
  readonly name: string;
  /** A tag (`latest` by default) or a digest `sha256:…`, which takes precedence over a tag. */
  readonly version: string;
}

/**
 * Parses an image name; null where it is invalid. Docker itself checks the rest of its grammar; this refuses names that
 * would change the path of the request (`..`): Docker then redirects, and the client follows the redirect wherever it leads
 * (measured).
 */
export function parseImageReference(image: string): ImageReference | null {
  const parts = image.split('/');
  if (!parts.every((part) => /^[\w.:@-]+$/.test(part) && !/^\.+$/.test(part))) return null;
  const [rest, digest] = split(image, image.indexOf('@'));
  const slash = rest.lastIndexOf('/');
  const colon = rest.indexOf(':', slash + 1);
  const [name, tag] = split(rest, colon);
  const first = name.slice(0, Math.max(0, name.indexOf('/')));
  // Docker treats the old name of its Hub as the Hub.
  const registry = isRegistry(first) && first !== 'index.docker.io' ? first : 'docker.io';
  return { registry, name, version: digest ?? tag ?? 'latest' };
}

/** An image id, which names no repository: there is no registry to ask. */
export function isImageId(image: string): boolean {
  return /^(?:sha256:)?[0-9a-f]{64}$/.test(image);
}

function split(text: string, at: number): readonly [string, string?] {
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
