/** Why no gate answers, in words, and what whoever called it can do next. */

import { errorWords } from '../../text/error-words.js';

const UNKNOWN_AUTHORITY = 'name the authority that signed its certificate with --ca-file (TUNEPLANE_CA_FILE)';
const PLAIN_OR_TLS = 'if it speaks TLS, write https:// in --url (TUNEPLANE_URL)';

/** Node's codes, and those of OpenSSL as Node names them. */
const NEXT: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'start it with gpu-gate serve, or name another address with --url (TUNEPLANE_URL)',
  ENOENT: 'start it with gpu-gate serve, or name another address with --url (TUNEPLANE_URL)',
  EACCES: 'this user may not open the socket: ask for the group that owns it',
  ENOTFOUND: 'no such host is known; --url (TUNEPLANE_URL) names another',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  ERR_TLS_CERT_ALTNAME_INVALID: 'use a name in --url that its certificate has',
  CERT_HAS_EXPIRED: 'its certificate has expired; whoever runs the gate must renew it',
  EPROTO: 'if it does not speak TLS, write http:// in --url (TUNEPLANE_URL)',
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: 'it asks for a client certificate: --cert-file and --key-file name one',
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: 'if it asks for a client certificate, --cert-file and --key-file name one',
  ECONNRESET: PLAIN_OR_TLS,
  HPE_INVALID_CONSTANT: PLAIN_OR_TLS,
};

/** The error in its own words, then what to do, where something is known. */
export function unreachableWords(error: unknown): string {
  const next = codesOf(error)
    .map((code) => NEXT[code])
    .find((words) => words !== undefined);
  return next === undefined ? errorWords(error) : `${errorWords(error)}; ${next}`;
}

/** A host name with several addresses fails with one error of several. */
function codesOf(error: unknown): readonly string[] {
  if (error instanceof AggregateError) return error.errors.flatMap(codesOf);
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? [code] : [];
}
