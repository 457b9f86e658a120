/**
 * The Express application: all routes, with the headers common to all answers before them and the error handlers after them.
 */

import express, { type Express, type RequestHandler, type Router } from 'express';
import { createAdmitRoutes, type AdmitRouteParts } from './admit/routes.js';
import { createCardRoutes, type CardRouteParts } from './cards/routes.js';
import { createDoor, openDoor, type Keys } from './http/auth.js';
import { finalErrorHandler, notFound } from './http/errors.js';
import { createHealthRoutes, type Readiness } from './http/health-routes.js';
import { watchRefused } from './http/watch-refused.js';
import type { RefusedCode } from './model/admission.js';
import type { Log } from './model/ports/outside.js';
import { createOpenApiRoutes } from './openapi/routes.js';
import { createPageRoutes, type PageRouteParts } from './page/routes.js';
import { createRunRoutes, type RunRouteParts } from './runs/routes.js';

export interface MetricsAppParts {
  /** Sets further headers on every response. */
  readonly headers: RequestHandler;
  /** Requires a password for scrapes, if the operator configured one. */
  readonly scrapers: RequestHandler;
  /** The handler of `GET /metrics` behind this authentication. */
  readonly metrics: (door: RequestHandler[]) => Router;
  readonly readiness: () => Promise<Readiness>;
  readonly log: Log;
}

export interface AppParts
  extends
    MetricsAppParts,
    Omit<AdmitRouteParts, 'door'>,
    Omit<RunRouteParts, 'door'>,
    Omit<CardRouteParts, 'door' | 'admissions'> {
  readonly keys: Keys;
  /** Of the package, for the OpenAPI document. */
  readonly version: string;
  readonly page: Omit<PageRouteParts, 'door'>;
  /** Called for each refused caller. */
  readonly countRefused: (code: RefusedCode) => void;
}

/** Everything the gate serves. */
export function createApp(parts: AppParts): Express {
  const door = createDoor(parts.keys);
  const routes = { ...parts, door };
  const app = bareApp(parts.headers);
  app.use(watchRefused({ audit: parts.audit, clock: parts.clock, count: parts.countRefused }));
  app.use(openRoutes(parts, door.everybody));
  app.use(createAdmitRoutes(routes));
  app.use(createRunRoutes(routes));
  app.use(createCardRoutes(routes));
  app.use(createOpenApiRoutes(routes));
  app.use(createPageRoutes({ ...parts.page, door }));
  app.use(door.for(null), notFound);
  app.use(finalErrorHandler(parts.log));
  return app;
}

/** For `TUNEPLANE_METRICS_LISTEN`: the public routes only, under any `Host`. */
export function createMetricsOnlyApp(parts: MetricsAppParts): Express {
  const app = bareApp(parts.headers);
  app.use(openRoutes(parts, openDoor));
  app.use(notFound);
  app.use(finalErrorHandler(parts.log));
  return app;
}

function openRoutes({ metrics, readiness, scrapers }: MetricsAppParts, door: RequestHandler): Router[] {
  return [metrics([door, scrapers]), createHealthRoutes(readiness, door)];
}

/** An ETag would be computed over every page of metrics; no route uses nested query parameters. */
function bareApp(headers: RequestHandler): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.use((_req, res, next) => {
    res.set({
      'Cache-Control': 'no-store',
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
    });
    next();
  });
  app.use(headers);
  return app;
}
