/**
 * Whether an `Accept-Encoding` asks for gzip: it lists gzip, or `*`, with a quality above 0 and not below that of
 * `identity`. Without the header, or if it is malformed, the answer is no.
 */
export function wantsGzip(header: string | undefined): boolean {
  const qualities = new Map<string, number>();
  for (const item of (header ?? '').toLowerCase().split(',')) {
    const parts = /^\s*(?<coding>[a-z0-9*_-]+)\s*(?:;\s*q=(?<q>[01](?:\.\d{0,3})?)\s*)?$/.exec(item)?.groups;
    if (parts?.['coding'] !== undefined) qualities.set(parts['coding'], Math.min(1, Number(parts['q'] ?? 1)));
  }
  const gzip = qualities.get('gzip') ?? qualities.get('x-gzip') ?? qualities.get('*') ?? 0;
  return gzip > 0 && gzip >= (qualities.get('identity') ?? 0);
}
