/** Prometheus' default scrape timeout is 10 s. */
const STANDARD_MS = 10_000;
/** Reserved for sending the answer. */
const MARGIN_MS = 500;
const LEAST_MS = 100;
/** No probe takes longer than its own limit, so waiting for hours helps nobody. */
const MOST_MS = 60_000;

/**
 * The time limit of a scrape in milliseconds: `X-Prometheus-Scrape-Timeout-Seconds` minus half a second, or 9.5 s where it
 * is missing or invalid.
 */
export function scrapeLimitMs(header: string | undefined): number {
  const givenMs = /^\d{1,9}(\.\d{1,9})?$/.test(header ?? '') ? Number(header) * 1000 : 0;
  return Math.min(MOST_MS, Math.max(LEAST_MS, (givenMs > 0 ? givenMs : STANDARD_MS) - MARGIN_MS));
}
