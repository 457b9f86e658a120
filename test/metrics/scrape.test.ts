import { expect, test } from 'vitest';
import { wantsGzip } from '../../src/metrics/accept-encoding.js';
import { METRICS } from '../../src/metrics/names.js';
import { createProcessMetrics } from '../../src/metrics/process-metrics.js';
import { scrapeLimitMs } from '../../src/metrics/scrape-limit.js';
import { metricsTable } from '../documents/metrics-table.js';

test.each([
  ['no header is no wish', undefined, false],
  ['Prometheus asks so', 'gzip', true],
  ['a browser asks so', 'gzip, deflate, br;q=0.9', true],
  ['anything will do', '*', true],
  ['anything but gzip', 'gzip;q=0, *', false],
  ['a quality of 0 refuses', 'gzip;q=0.0', false],
  ['a low quality is still a wish', 'gzip;q=0.1', true],
  ['identity is liked better', 'gzip;q=0.5, identity;q=0.8', false],
  ['identity is refused', 'identity;q=0, gzip;q=0.2', true],
  ['the old name', 'X-GZIP', true],
  ['spaces and case do not matter', ' GZip ; q=1.000 ', true],
  ['another coding alone', 'br', false],
  ['nonsense is no wish', 'gzip;q=much,,;', false],
])('gzip: %s', (_says, header, wanted) => expect(wantsGzip(header)).toBe(wanted));

test.each([
  ['without the header 10 s are meant', undefined, 9500],
  ['as Prometheus writes it', '10', 9500],
  ['a fraction', '2.5', 2000],
  ['less than the margin leaves a tenth of a second', '0.3', 100],
  ['hours are cut to a minute', '7200', 60_000],
  ['zero is nonsense', '0', 9500],
  ['a sign is nonsense', '-5', 9500],
  ['hex is nonsense', '0x10', 9500],
  ['an exponent is nonsense', '1e9', 9500],
  ['words are nonsense', 'Infinity', 9500],
])('the limit of a scrape: %s', (_says, header, limitMs) => expect(scrapeLimitMs(header)).toBe(limitMs));

test('the table of metrics has a row for each', () => {
  expect(metricsTable().trim().split('\n')).toHaveLength(2 + Object.keys(METRICS).length);
});

test('what prom-client tells of the process is there, without what cannot be a number or is refused', async () => {
  const text = await createProcessMetrics().metrics();
  expect(text).toContain('process_resident_memory_bytes');
  expect(text).toContain('nodejs_eventloop_lag_seconds');
  expect(text).not.toMatch(/nodejs_active_\w+_total|eventloop_lag_(min|max|mean|stddev|p\d+)/);
});

test('what prom-client tells of the process is counted once a second, however many ask', async () => {
  let now = 0;
  const process = createProcessMetrics({ monotonic: () => now });
  const cpu = async (): Promise<string | undefined> =>
    /^process_cpu_seconds_total (\S+)/m.exec(await process.metrics())?.[1];
  const first = await cpu();
  for (const until = performance.now() + 5; performance.now() < until;);
  now = 999;
  expect(await cpu()).toBe(first);
  now = 1000;
  expect(Number(await cpu())).toBeGreaterThan(Number(first));
});
