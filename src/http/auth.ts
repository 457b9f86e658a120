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
  /** Lets callers with at least one of the roles pass. */
  forAny(...roles: readonly [Role, ...Role[]]): RequestHandler;
  /** For public routes: requires no token, but where there are no tokens an allowed `Host`. */
  readonly everybody: RequestHandler;
}

/** For a listener that serves only public routes, under any `Host`. */
export const openDoor: RequestHandler = (_req, _res, next) => next();

/** The caller's name where there is no tokens file. */
export const LOCAL: Principal = { name: 'local', roles: ROLES.filter((role) => role !== 'delegate') };

export function createDoor(keys: Keys): Door {
  const doorFor =
    (roles: readonly Role[]): RequestHandler =>
    async (req, res, next) => {
      if (refuseHost(keys, req, res)) return;
      const caller = keys.kind === 'open' ? LOCAL : await identify(keys.file, req, res);
      if (caller === null) return;
      res.locals['principal'] = caller;
      const principal = actingFor(caller, req, res);
      if (principal === null) return;
      res.locals['principal'] = principal;
      if (roles.length === 0 || roles.some((role) => principal.roles.includes(role))) return next();
      const detail = `${caller.name} does not have the role ${roles.join(' or ')}; it has ${principal.roles.join(', ')}`;
      sendProblem(res, { code: 'forbidden', detail });
    };
  return {
    for: (role) => doorFor(role === null ? [] : [role]),
    forAny: (...roles) => doorFor(roles),
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

/** Names are those of a tokens file. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/;

/** Whom the caller speaks for: itself, or whom `On-Behalf-Of` names. Null where it may not, and a 403 or 400 was sent. */
function actingFor(caller: Principal, req: Request, res: Response): Principal | null {
  const name = req.headers['on-behalf-of'];
  if (name === undefined) return caller;
  if (!caller.roles.includes('delegate')) {
    const detail = `${caller.name} does not have the role delegate, without which nobody speaks for another (On-Behalf-Of)`;
    sendProblem(res, { code: 'forbidden', detail });
    return null;
  }
  if (typeof name === 'string' && NAME.test(name)) return { name, roles: caller.roles, delegate: caller.name };
  const detail =
    'On-Behalf-Of: expected one name of 1 to 63 letters, digits, "_", "." and "-", the first a letter or digit';
  sendProblem(res, { code: 'invalid_request', detail, errors: [{ pointer: 'On-Behalf-Of', detail }] });
  return null;
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
