/** Where a server listens: parsed from a setting, and whether only this machine can reach it. */

import { isIP } from 'node:net';

/** An address to listen on. `port` 0 is any free port. An IPv6 `host` has no brackets. */
export type ListenAddress =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string };

/** The accepted forms of an address, for people. */
export const ADDRESS_FORMS = 'host:port, [v6]:port or unix:/path';

/** The longest path of a unix socket on Linux: `sun_path` has 108 bytes, the last one is the terminator. */
const LONGEST_SOCKET_PATH = 107;

/** Parses one address; null if it is invalid. A bare port or host is invalid: nobody should listen by accident. */
export function readAddress(text: string): ListenAddress | null {
  if (text.startsWith('unix:')) {
    const path = text.slice('unix:'.length);
    const fits = path.startsWith('/') && path.length > 1 && Buffer.byteLength(path) <= LONGEST_SOCKET_PATH;
    return fits && !path.includes('\0') ? { kind: 'unix', path } : null;
  }
  const parts = /^(?:\[(?<v6>[^\]]+)\]|(?<name>[^:[\]]+)):(?<port>\d{1,5})$/.exec(text)?.groups;
  if (parts === undefined) return null;
  const port = Number(parts['port']);
  if (port > 65535) return null;
  if (parts['v6'] !== undefined) return isIP(parts['v6']) === 6 ? { kind: 'tcp', host: parts['v6'], port } : null;
  const host = parts['name'] ?? '';
  return isHostName(host) ? { kind: 'tcp', host, port } : null;
}

/** The address in the form of a setting. */
export function writeAddress(address: ListenAddress): string {
  if (address.kind === 'unix') return `unix:${address.path}`;
  return address.host.includes(':') ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;
}

/** Whether only this machine can reach it. In doubt (a name other than `localhost`) the answer is no. */
export function isLocal(address: ListenAddress): boolean {
  if (address.kind === 'unix') return true;
  const host = address.host.toLowerCase();
  if (host === 'localhost') return true;
  if (isIP(host) === 4) return host.startsWith('127.');
  if (isIP(host) !== 6) return false;
  const written = shortestV6(host);
  return written === '::1' || /^::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}$/.test(written);
}

/** An IPv4 address or a host name; something that looks like an address but is none (`127.0.0.300`) is neither. */
export function isHostName(text: string): boolean {
  if (isIP(text) === 4) return true;
  if (/^[\d.]+$/.test(text) || text.length > 253) return false;
  return text.split('.').every((label) => /^[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/.test(label));
}

/** The one spelling of a v6 address that every URL parser agrees on; one with a zone stays as it is. */
function shortestV6(host: string): string {
  return URL.canParse(`http://[${host}]`) ? new URL(`http://[${host}]`).hostname.slice(1, -1) : host;
}
