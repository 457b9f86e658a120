/** Where there are no tokens: whether a request comes from where it says, and not from a web page in an operator's browser. */

import type { Request } from 'express';
import type { ListenAddress } from '../settings/addresses.js';
import { isOverUnixSocket } from './listen.js';

/**
 * The `Host` values that are let through: the addresses listened on, `localhost`, and those that the operator allows. Compared by
 * name and for any port, as a tunnel changes the port and a web page that rebinds its name cannot change the name; an allowed
 * entry with a port asks for that port.
 */
export function allowedHosts(listen: readonly ListenAddress[], allowed: readonly string[]): ReadonlySet<string> {
  const own = listen.flatMap((address) => (address.kind === 'tcp' ? [address.host] : []));
  return new Set(['localhost', ...own, ...allowed].map((host) => host.toLowerCase().replace(/^\[(.*)\]$/, '$1')));
}

/** Why the request is not let through; null where it is. On a unix socket any `Host` will do: no browser can reach it. */
export function wrongHost(req: Request, hosts: ReadonlySet<string>): string | null {
  if (isOverUnixSocket(req)) return null;
  const host = req.headers.host;
  if (!isAllowed(host, hosts)) return `the header Host is ${shown(host)}; ${EXPECTED}`;
  // A target that names its host in full counts before the header (RFC 9112, section 3.2.2).
  const target = /^[a-z]+:\/\/([^/?#]*)/i.exec(req.originalUrl)?.[1];
  if (target !== undefined && !isAllowed(target, hosts)) {
    return `the request is for the host ${shown(target)}; ${EXPECTED}`;
  }
  if (req.method === 'GET' || req.method === 'HEAD') return null;
  const { origin, 'sec-fetch-site': site } = req.headers;
  if (origin !== undefined && !isAllowed(/^https?:\/\/(.+)$/.exec(origin)?.[1], hosts)) {
    return `the request was made by a web page of another origin, ${shown(origin)}`;
  }
  if (site === 'cross-site' || site === 'same-site')
    return `the request was made by a web page of another origin (${site})`;
  return null;
}

const EXPECTED = 'expected an address that this gate listens on, localhost, or one of TUNEPLANE_ALLOWED_HOSTS';

function isAllowed(host: string | undefined, hosts: ReadonlySet<string>): boolean {
  const parts = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?$/i.exec(host ?? '');
  const name = (parts?.[1] ?? parts?.[2])?.toLowerCase().replace(/\.$/, '');
  if (parts === null || name === undefined) return false;
  return hosts.has(name) || (parts[3] !== undefined && hosts.has(`${name}:${parts[3]}`));
}

function shown(value: string | undefined): string {
  return value === undefined ? 'missing' : JSON.stringify(value.slice(0, 80));
}
