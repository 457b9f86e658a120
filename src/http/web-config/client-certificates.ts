/** Whether a client's certificate satisfies `client_auth_type` and `client_allowed_sans`. */

import { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';

export interface ClientRule {
  readonly kind: 'none' | 'request' | 'any' | 'verify_given' | 'verify';
  /** One of these must be among the certificate's alternative names; null: any. */
  readonly allowedSans: readonly string[] | null;
}

/** Why this client is rejected; null when it is accepted. To be asked after the handshake. */
export function clientRefusal(socket: TLSSocket, { kind, allowedSans }: ClientRule): string | null {
  if (kind === 'none' || kind === 'request') return null;
  const raw = socket.getPeerCertificate().raw as Buffer | undefined;
  if (raw === undefined) return kind === 'verify_given' ? null : 'the client sent no certificate';
  if (kind !== 'any' && !socket.authorized) {
    return `the client's certificate is not valid here: ${String(socket.authorizationError)}`;
  }
  if (allowedSans === null) return null;
  const names = alternativeNames(new X509Certificate(raw).subjectAltName ?? '');
  return names.some((name) => allowedSans.includes(name))
    ? null
    : "none of the names of the client's certificate is in client_allowed_sans";
}

/**
 * The values in Node's text for the alternative names, `DNS:a.example, IP Address:10.0.0.1, URI:"with, a comma"`. A value that
 * could be mistaken for several is in JSON's quotes (CVE-2021-44532).
 */
export function alternativeNames(text: string): string[] {
  const names: string[] = [];
  for (let at = 0; at < text.length;) {
    const colon = text.indexOf(':', at);
    if (colon === -1) break;
    const end = endOfValue(text, colon + 1);
    const kind = text.slice(at, colon);
    const written = text.slice(colon + 1, end);
    const value = written.startsWith('"') ? String(JSON.parse(written)) : written;
    if (['DNS', 'IP Address', 'URI', 'email'].includes(kind))
      names.push(kind === 'IP Address' ? shortestIp(value) : value);
    at = end + ', '.length;
  }
  return names;
}

function endOfValue(text: string, start: number): number {
  if (text[start] !== '"') {
    const comma = text.indexOf(', ', start);
    return comma === -1 ? text.length : comma;
  }
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** Go writes an IPv6 address in its shortest form, Node in full. */
function shortestIp(address: string): string {
  const url = `http://[${address}]`;
  return address.includes(':') && URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : address;
}
