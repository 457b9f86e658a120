/** The header `Prefer: wait=N` (RFC 7240): hold the request instead of answering `wait` at once. */

/** Longer than most proxies and clients wait. */
const LONGEST_HOLD_S = 300;
/** No useful header is longer. */
const LONGEST_HEADER = 1000;

/** How long to hold, in milliseconds; 0 where the header is missing or malformed. Of several values the first counts. */
export function holdMsOf(header: string | undefined): number {
  if (header === undefined || header.length > LONGEST_HEADER) return 0;
  for (const preference of header.split(',')) {
    const [name = '', value = ''] = (preference.split(';')[0] ?? '').split('=').map((part) => part.trim());
    if (name.toLowerCase() === 'wait') return 1000 * Math.min(LONGEST_HOLD_S, secondsOf(value));
  }
  return 0;
}

function secondsOf(value: string): number {
  const bare = value.startsWith('"') && value.endsWith('"') && value.length > 1 ? value.slice(1, -1) : value;
  return /^[0-9]{1,9}$/.test(bare) ? Number(bare) : 0;
}
