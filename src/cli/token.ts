/** `gpu-gate token new`: creates a token, shown only once, and its line for the tokens file. */

import { createHash, randomBytes } from 'node:crypto';
import { ROLES } from '../model/admission.js';

/** A new token and its line for the tokens file, or what is wrong with the arguments. */
export type NewToken =
  | { readonly kind: 'made'; readonly token: string; readonly line: string }
  | { readonly kind: 'refused'; readonly problems: readonly string[] };

/** 256 random bits after a prefix by which a leaked token is recognized; the line holds only its SHA-256, in hex. */
export function newToken(name: string, roles: string, random: (bytes: number) => Buffer = randomBytes): NewToken {
  const asked = roles.split(',').map((role) => role.trim());
  const problems = asked
    .filter((role) => !ROLES.some((known) => known === role))
    .map((role) => `--roles has ${JSON.stringify(role)} in it: expected some of ${ROLES.join(', ')}, with commas`);
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/.test(name)) {
    problems.push(`the name is ${JSON.stringify(name)}: expected 1 to 63 letters, digits, "_", "." or "-"`);
  }
  if (problems.length > 0) return { kind: 'refused', problems };
  const token = `tpgate_${random(32).toString('base64url')}`;
  const digest = createHash('sha256').update(token).digest('hex');
  return { kind: 'made', token, line: `${name}:${digest}:${ROLES.filter((role) => asked.includes(role)).join(',')}` };
}

/** Prints the line to standard output, for `>>`, and the token to standard error, for its user. */
export function printNewToken(name: string, roles: string): void {
  const made = newToken(name, roles);
  if (made.kind === 'refused') {
    process.stderr.write(made.problems.map((problem) => `gpu-gate token new: ${problem}\n`).join(''));
    process.exitCode = 2;
    return;
  }
  process.stderr.write(
    `Token for ${name}, shown only now:\n  ${made.token}\n` +
      'Its line for the tokens file (TUNEPLANE_TOKENS_FILE, readable by the gate alone) is on standard output:\n',
  );
  process.stdout.write(`${made.line}\n`);
}
