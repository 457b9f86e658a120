/** `GET /metrics`. */

import { gzipSync } from 'node:zlib';
import { Router, type Request, type RequestHandler, type Response } from 'express';
import { Registry } from 'prom-client';
import { methodNotAllowed } from '../http/errors.js';
import type { Occupancy } from '../model/occupancy.js';
import type { GateStatus } from '../model/ports/admissions.js';
import type { Observer, Observation } from '../model/ports/eyes.js';
import type { Log } from '../model/ports/outside.js';
import type { RuleFileStatus } from '../model/ports/rule-files.js';
import { inTime } from '../time/in-time.js';
import { systemClock } from '../time/system-clock.js';
import { wantsGzip } from './accept-encoding.js';
import { createExposition } from './exposition.js';
import type { MeterWithRegistry } from './meter.js';
import { scrapeLimitMs } from './scrape-limit.js';

/** The sources of the page. */
export interface MetricsParts {
  readonly observer: Pick<Observer, 'recent'>;
  readonly status: () => GateStatus;
  readonly meter: MeterWithRegistry;
  /** From `createProcessMetrics`; null: left out. */
  readonly process: Registry | null;
  /** `TUNEPLANE_METRICS_HOLDERS`. */
  readonly holders: boolean;
  readonly cardsReserved: (occupancy: Occupancy) => number;
  /** The state of the access files (tokens, policy) at their last check. */
  readonly ruleFiles: () => readonly RuleFileStatus[];
  readonly log: Pick<Log, 'error'>;
}

/**
 * Creates the router behind authentication, one for each listener. It always answers 200 with a page, within the scrape's
 * timeout: the page itself reports what could not be seen.
 */
export function metricsRoutes(parts: MetricsParts): (door: RequestHandler[]) => Router {
  const onFault = (fault: unknown): void =>
    parts.log.error({ err: fault }, 'a part of the metrics page could not be made');
  const pageOf = createPages(parts, onFault);
  const scrape: RequestHandler = async (req, res) => {
    const limitMs = scrapeLimitMs(req.get('x-prometheus-scrape-timeout-seconds'));
    await answer(req, res, pageOf(await lookWithin(parts.observer, limitMs, onFault)));
  };
  return (door) => {
    const router = Router({ caseSensitive: true, strict: true });
    router
      .route('/metrics')
      .get(...door, scrape)
      .all(...door, methodNotAllowed('GET', 'HEAD'));
    return router;
  };
}

interface Page {
  readonly plain: Promise<Buffer>;
  readonly zipped: () => Promise<Buffer>;
}

/** Requests in the same turn of the event loop share one page: 50 that waited for one look cost one rendering. */
function createPages(
  parts: MetricsParts,
  onFault: (fault: unknown) => void,
): (observation: Observation | null) => Page {
  const { meter, holders, process, ruleFiles, cardsReserved } = parts;
  const render = createExposition(meter, { holders, process, ruleFiles, cardsReserved, onFault });
  const ofThisTurn = new Map<Observation | null, Page>();
  return (observation) => {
    const shared = ofThisTurn.get(observation);
    if (shared !== undefined) return shared;
    const plain = render(observation, statusOf(parts, onFault)).then((text) => Buffer.from(text));
    // Synchronously: it takes a tenth of a millisecond, less than passing the text to a thread with its memory.
    let zipped: Promise<Buffer> | null = null;
    const page = { plain, zipped: () => (zipped ??= plain.then((bytes) => gzipSync(bytes))) };
    ofThisTurn.set(observation, page);
    setImmediate(() => ofThisTurn.delete(observation));
    return page;
  };
}

async function answer(req: Request, res: Response, page: Page): Promise<void> {
  const zipped = wantsGzip(req.get('accept-encoding'));
  const body = await (zipped ? page.zipped() : page.plain);
  res.setHeader('Content-Type', Registry.PROMETHEUS_CONTENT_TYPE);
  res.setHeader('Vary', 'Accept-Encoding');
  if (zipped) res.setHeader('Content-Encoding', 'gzip');
  res.setHeader('Content-Length', body.length);
  // Not `send`, which would compute an ETag of the whole page at each scrape.
  res.end(body);
}

function statusOf(parts: MetricsParts, onFault: (fault: unknown) => void): GateStatus | null {
  try {
    return parts.status();
  } catch (fault) {
    onFault(fault);
    return null;
  }
}

/** The observer has its own time limit; this one covers a bug in it, and leaves it a moment to be the first. */
const GRACE_MS = 100;

/** A look, or null where none came in time or the observer threw. */
async function lookWithin(
  observer: Pick<Observer, 'recent'>,
  limitMs: number,
  onFault: (fault: unknown) => void,
): Promise<Observation | null> {
  try {
    const look = await inTime(observer.recent(limitMs), limitMs + GRACE_MS, systemClock);
    if (look === null) onFault(new Error(`no look came within ${limitMs} ms`));
    return look?.value ?? null;
  } catch (fault) {
    onFault(fault);
    return null;
  }
}
