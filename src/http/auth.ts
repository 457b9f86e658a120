/** Who is calling, and whether they may: the one door in front of every route. */

import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { ROLES, type Principal, type Role } from '../model/admission.js';
import { wrongHost } from './host.js';
import { sendProblem } from './problem.js';
import { findPrincipal, type TokenEntry } from './tokens-file.js';
import type { WatchedFile } from './watched-file.js';

/** How callers are told apart: by tokens, or, where there is no tokens file, not at all but by the `Host` they call. */
export type Keys =
  | { readonly kind: 'tokens'; readonly file: WatchedFile<readonly TokenEntry[]> }
  | { readonly kind: 'open'; readonly hosts: ReadonlySet<string> };

export interface Door {
  /** Lets through who has the role; null: whoever is known at all. After it `principalOf` answers. */
  for(role: Role | null): RequestHandler;
  /** For what everybody may read: asks for no token, but for the right `Host` where there are no tokens. */
  readonly everybody: RequestHandler;
}

/** For a listener that serves nothing but what everybody may read, whatever `Host` it is asked by. */
export const openDoor: RequestHandler = (_req, _res, next) => next();

/** Everybody, where there is no tokens file. */
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

/** Who was let in. Throws where no door was passed: a route without one is a fault of ours that must not go unnoticed. */
export function principalOf(res: Response): Principal {
  const principal = knownPrincipal(res);
  if (principal === null) throw new Error('a route was reached without passing the door');
  return principal;
}

/** Who was identified, if anybody was yet. */
export function knownPrincipal(res: Response): Principal | null {
  return (res.locals['principal'] as Principal | undefined) ?? null;
}

function refuseHost(keys: Keys, req: Request, res: Response): boolean {
  const wrong = keys.kind === 'open' ? wrongHost(req, keys.hosts) : null;
  if (wrong === null) return false;
  sendProblem(res, { code: 'forbidden', detail: wrong });
  return true;
}

/** Null where the answer has been given: 401. It does not say which part of the header was wrong. */
async function identify(
  file: WatchedFile<readonly TokenEntry[]>,
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
