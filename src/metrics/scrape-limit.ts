/** Prometheus gives up after 10 s where nobody told it otherwise. */
const STANDARD_MS = 10_000;
/** What is left for the way back. */
const MARGIN_MS = 500;
const LEAST_MS = 100;
/** No probe takes longer than its own limit, so nobody is served by waiting for hours. */
const MOST_MS = 60_000;

/**
 * How long a scrape may take, in milliseconds: what `X-Prometheus-Scrape-Timeout-Seconds` says minus half a second, 9.5 s
 * where it says nothing or nonsense.
 */
export function scrapeLimitMs(header: string | undefined): number {
  const givenMs = /^\d{1,9}(\.\d{1,9})?$/.test(header ?? '') ? Number(header) * 1000 : 0;
  return Math.min(MOST_MS, Math.max(LEAST_MS, (givenMs > 0 ? givenMs : STANDARD_MS) - MARGIN_MS));
}
