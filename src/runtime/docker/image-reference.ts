import { isRegistry } from '../../model/image-name.js';

/** An image name, taken apart as Docker does. */
export interface ImageReference {
  /** `docker.io` where none is named. */
  readonly registry: string;
  /** With the registry as written, without tag or digest: what a pull names. */
  readonly name: string;
  /** A tag (`latest` where none is written) or a digest `sha256:…`, which wins over a tag beside it. */
  readonly version: string;
}

/**
 * Takes an image name apart; null where it can be none. What is left of Docker's grammar is refused by Docker; this keeps out what would make another path of the
 * request (`..`), since Docker then redirects, and the client follows to wherever that leads (measured).
 */
export function parseImageReference(image: string): ImageReference | null {
  const parts = image.split('/');
  if (!parts.every((part) => /^[\w.:@-]+$/.test(part) && !/^\.+$/.test(part))) return null;
  const [rest, digest] = split(image, image.indexOf('@'));
  const slash = rest.lastIndexOf('/');
  const colon = rest.indexOf(':', slash + 1);
  const [name, tag] = split(rest, colon);
  const first = name.slice(0, Math.max(0, name.indexOf('/')));
  return { registry: isRegistry(first) ? first : 'docker.io', name, version: digest ?? tag ?? 'latest' };
}

function split(text: string, at: number): readonly [string, string?] {
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
