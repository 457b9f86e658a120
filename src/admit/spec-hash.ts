/** What makes two requests the same request. */

import { createHash } from 'node:crypto';

/**
 * SHA-256, hex, over the request as it came, written as JSON without spaces and with the keys of every object sorted. The order
 * of keys and the spelling of numbers do not matter; the order of lists does.
 */
export function specSha256(request: unknown): string {
  return createHash('sha256').update(canonicalJson(request)).digest('hex');
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join(',')}}`;
}
