/** `GET /openapi.json`. */

import { Router } from 'express';
import type { Door } from '../http/auth.js';
import { methodNotAllowed } from '../http/errors.js';
import { sendJson } from '../http/json.js';
import type { RuntimeKind } from '../model/runtime-kind.js';
import { createOpenApi } from './document.js';

export interface OpenApiRouteParts {
  readonly door: Door;
  readonly version: string;
  readonly runtime?: RuntimeKind;
}

export function createOpenApiRoutes({ door, version, runtime }: OpenApiRouteParts): Router {
  const document = createOpenApi(version, runtime);
  const router = Router({ caseSensitive: true, strict: true });
  router
    .route('/openapi.json')
    .get(door.for('read'), (_req, res) => sendJson(res, 200, document))
    .all(door.for(null), methodNotAllowed('GET', 'HEAD'));
  return router;
}
