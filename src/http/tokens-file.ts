/** Who may call: lines of `name:sha256-of-token:roles`. The file never contains a token itself. */

import { createHash, timingSafeEqual } from 'node:crypto';
import { ROLES, type Principal, type Role } from '../model/admission.js';
import type { Clock, Log } from '../model/ports/outside.js';
import { openWatchedFile, type FileContent, type Opened } from './watched-file.js';

/** One line of the file. Several lines may have the same name, so that a token can be replaced without a gap. */
export interface TokenEntry {
  readonly principal: Principal;
  /** SHA-256 of the token, 32 bytes. */
  readonly digest: Buffer;
}

/**
 * Opens the tokens file and reloads it when it changes. At the start, refuses a file that everyone can read or that someone
 * else could have written, and one without a token; later such a file permits nobody.
 */
export function openTokensFile(path: string, outside: { clock: Pick<Clock, 'now'>; log: Log }): Promise<OpenedTokens> {
  const understand = (text: string, mode: number): FileContent<readonly TokenEntry[]> => parseTokens(path, text, mode);
  return openWatchedFile({ path, name: 'tokens', understand, nothing: [], keepsLast: false, ...outside });
}

export type OpenedTokens = Opened<readonly TokenEntry[]>;

/** The principal with this token; null where there is none. Compares every entry, each in constant time. */
export function findPrincipal(entries: readonly TokenEntry[], token: string): Principal | null {
  const digest = createHash('sha256').update(token).digest();
  let found: Principal | null = null;
  for (const entry of entries) {
    if (timingSafeEqual(entry.digest, digest)) found = entry.principal;
  }
  return found;
}

/**
 * Parses a tokens file line by line: an invalid line is ignored, and of two lines with the same token the first counts. `#`
 * starts a comment line.
 */
export function parseTokens(path: string, text: string, mode: number): FileContent<readonly TokenEntry[]> {
  const problems: string[] = [];
  const entries: TokenEntry[] = [];
  if ((mode & 0o004) !== 0) {
    const shown = (mode & 0o777).toString(8);
    return { kind: 'bad', problems: [`${path}: can be read by everybody (mode ${shown}); expected 640 or 600`] };
  }
  const lineOfDigest = new Map<string, number>();
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    const entry = parseLine(line.trim());
    if (typeof entry === 'string') {
      problems.push(`${path}, line ${at + 1}: ${entry}`);
      continue;
    }
    const digest = entry.digest.toString('hex');
    const before = lineOfDigest.get(digest);
    if (before !== undefined) {
      problems.push(`${path}, line ${at + 1}: the same token as in line ${before}`);
      continue;
    }
    lineOfDigest.set(digest, at + 1);
    entries.push(entry);
  }
  if (entries.length > 0) return { kind: 'good', value: entries, passedOver: problems };
  const none = `${path}: holds no token, so nobody could call; expected lines of name:sha256-of-token:roles`;
  return { kind: 'bad', problems: [...problems, none] };
}

/** The entry, or what is wrong with the line. The message never quotes the line, which may contain a token by mistake. */
function parseLine(line: string): TokenEntry | string {
  const parts = line.split(':');
  const [name, hex, list] = parts;
  if (parts.length !== 3 || name === undefined || hex === undefined || list === undefined) {
    return `expected name:sha256-of-token:roles, three parts; got ${parts.length}`;
  }
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/.test(name)) {
    return 'expected a name of up to 63 letters, digits, "_", "." and "-", the first a letter or digit';
  }
  if (!/^[0-9a-f]{64}$/i.test(hex)) {
    return `expected the SHA-256 of ${name}'s token, 64 hex digits; got ${hex.length} characters`;
  }
  const roles = list.split(',').map((role) => role.trim());
  const unknown = roles.find((role) => !isRole(role));
  if (unknown !== undefined) {
    return `expected roles of ${ROLES.join(', ')} for ${name}, with commas; got "${unknown.slice(0, 40)}"`;
  }
  return { principal: { name, roles: [...new Set(roles.filter(isRole))] }, digest: Buffer.from(hex, 'hex') };
}

function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text);
}
