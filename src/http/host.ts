/**
 * Without tokens: whether a request really addresses this gate, and does not come from a web page in an operator's browser.
 */

import type { Request } from 'express';
import type { ListenAddress } from '../settings/addresses.js';
import { isOverUnixSocket } from './connections/over-unix.js';

/**
 * The accepted `Host` values: the listen addresses, `localhost`, and the names that the operator allows. Compared by name,
 * with any port: a tunnel changes the port, and a page that uses DNS rebinding cannot change the name. An allowed entry with
 * a port requires that port.
 */
export function allowedHosts(listen: readonly ListenAddress[], allowed: readonly string[]): ReadonlySet<string> {
  const own = listen.flatMap((address) => (address.kind === 'tcp' ? [address.host] : []));
  return new Set(['localhost', ...own, ...allowed].map((host) => host.toLowerCase().replace(/^\[(.*)\]$/, '$1')));
}

/**
 * Why the request is refused; null where it is accepted. On a unix socket any `Host` is accepted: no browser can reach it.
 */
export function wrongHost(req: Request, hosts: ReadonlySet<string>): string | null {
  if (isOverUnixSocket(req)) return null;
  const host = req.headers.host;
  if (!isAllowed(host, hosts)) return `the header Host is ${shown(host)}; ${EXPECTED}`;
  // A request target with a host takes precedence over the header (RFC 9112, section 3.2.2).
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
