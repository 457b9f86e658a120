/** Asks for the name and password of a user of the web config. */

import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { isOverUnixSocket } from '../connections/over-unix.js';
import { sendProblem } from '../problem.js';
import type { BcryptThread } from './bcrypt-thread.js';

/** Compared for an unknown user, so that the time of the answer does not tell which names exist. */
const NOBODYS_HASH = '$2b$10$.yugE/vvcpLTpmZQflTA0On.WWEXiavz3Nf5TQfW6lNM/vjX6Z2lK';

/** Each scraper has one. */
const MOST_VERDICTS = 100;

export interface BasicAuthParts {
  readonly users: () => ReadonlyMap<string, string>;
  readonly bcrypt: BcryptThread;
}

/**
 * Lets every request pass where there are no users, and on a unix socket. The result of a comparison is cached, so that each
 * scraper is compared once; a changed hash takes effect at once.
 */
export function createBasicAuth({ users, bcrypt }: BasicAuthParts): RequestHandler {
  // Separate, so that a flood of wrong passwords does not displace the right ones.
  const right = new Verdicts();
  const wrong = new Verdicts();

  async function verdict(name: string, password: string): Promise<boolean | null> {
    const hash = users().get(name);
    const key = createHash('sha256')
      .update(JSON.stringify([name, hash ?? '', password]))
      .digest('base64');
    if (right.has(key)) return true;
    if (wrong.has(key)) return false;
    const matches = await bcrypt.matches(password, hash ?? NOBODYS_HASH);
    if (matches === null) return null;
    const allowed = matches && hash !== undefined;
    (allowed ? right : wrong).add(key);
    return allowed;
  }

  return async (req, res, next) => {
    if (users().size === 0 || isOverUnixSocket(req)) return next();
    const given = credentials(req.headers.authorization);
    const allowed = given === null ? false : await verdict(...given);
    if (allowed === true) return next();
    if (allowed === null) return sendProblem(res, { code: 'busy', detail: 'too many passwords are being checked' });
    const came = req.headers.authorization === undefined ? 'none came' : 'another one came';
    const detail = `expected the header Authorization: Basic with a user of the web config; ${came}`;
    return sendProblem(res, { code: 'unauthenticated', detail, headers: { 'WWW-Authenticate': 'Basic' } });
  };
}

/** Name and password; null where the header is not of this kind. */
function credentials(header: string | undefined): readonly [string, string] | null {
  const encoded = /^Basic ([A-Za-z0-9+/]{1,1000}={0,2})$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  return colon === -1 ? null : [text.slice(0, colon), text.slice(colon + 1)];
}

class Verdicts {
  private readonly keys = new Set<string>();
  has(key: string): boolean {
    return this.keys.has(key);
  }
  add(key: string): void {
    this.keys.add(key);
    const [oldest] = this.keys;
    if (this.keys.size > MOST_VERDICTS && oldest !== undefined) this.keys.delete(oldest);
  }
}
