/** Who is calling, and whether they may: authentication and authorization for every route. */

import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { ROLES, type Principal, type Role } from '../model/admission.js';
import { wrongHost } from './host.js';
import { sendProblem } from './problem.js';
import { findPrincipal, type TokenEntry } from './tokens-file.js';
import type { WatchedFile } from './watched-file.js';

/** How callers are identified: by tokens or, without a tokens file, only by the `Host` that they call. */
export type Keys =
  | { readonly kind: 'tokens'; readonly file: Pick<WatchedFile<readonly TokenEntry[]>, 'current'> }
  | { readonly kind: 'open'; readonly hosts: ReadonlySet<string> };

export interface Door {
  /** Lets callers with the role pass; null: any known caller. After it `principalOf` answers. */
  for(role: Role | null): RequestHandler;
  /** For public routes: requires no token, but where there are no tokens an allowed `Host`. */
  readonly everybody: RequestHandler;
}

/** For a listener that serves only public routes, under any `Host`. */
export const openDoor: RequestHandler = (_req, _res, next) => next();

/** The caller's name where there is no tokens file. */
export const LOCAL: Principal = { name: 'local', roles: ROLES };

export function createDoor(keys: Keys): Door {
  return {
    for: (role) => async (req, res, next) => {
      if (refuseHost(keys, req, res)) return;
      const principal = keys.kind === 'open' ? LOCAL : await identify(keys.file, req, res);
      if (principal === null) return;
      res.locals['principal'] = principal;
      if (role === null || principal.roles.includes(role)) return next();
      const detail = `${principal.name} does not have the role ${role}; it has ${principal.roles.join(', ')}`;
      sendProblem(res, { code: 'forbidden', detail });
    },
    everybody: (req: Request, res: Response, next: NextFunction) => {
      if (!refuseHost(keys, req, res)) next();
    },
  };
}

/** The authenticated caller. Throws where the route has no authentication, a bug that must not go unnoticed. */
export function principalOf(res: Response): Principal {
  const principal = knownPrincipal(res);
  if (principal === null) throw new Error('a route has no authentication');
  return principal;
}

/** The caller, if one has been identified yet. */
export function knownPrincipal(res: Response): Principal | null {
  return (res.locals['principal'] as Principal | undefined) ?? null;
}

function refuseHost(keys: Keys, req: Request, res: Response): boolean {
  const wrong = keys.kind === 'open' ? wrongHost(req, keys.hosts) : null;
  if (wrong === null) return false;
  sendProblem(res, { code: 'forbidden', detail: wrong });
  return true;
}

/** Null where a 401 was sent. It does not say which part of the header was wrong. */
async function identify(
  file: Pick<WatchedFile<readonly TokenEntry[]>, 'current'>,
  req: Request,
  res: Response,
): Promise<Principal | null> {
  const entries = await file.current();
  const header = req.headers.authorization;
  const token = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(header ?? '')?.[1];
  const principal = token === undefined ? null : findPrincipal(entries, token);
  if (principal !== null) return principal;
  const detail =
    header === undefined
      ? 'expected the header Authorization: Bearer <token>; none came'
      : 'expected the header Authorization: Bearer <token> with a token of this gate; another one came';
  sendProblem(res, { code: 'unauthenticated', detail, headers: { 'WWW-Authenticate': 'Bearer' } });
  return null;
}
