/** What makes two requests the same request. */

import { createHash } from 'node:crypto';

/**
 * SHA-256 in hex over the request as received, serialized as JSON without whitespace and with sorted object keys. Key order
 * and the spelling of numbers make no difference; list order does.
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
