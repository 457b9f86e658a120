/** The text of a web config file: parsed and validated, every key accepted or rejected by name. */

import { parse } from 'yaml';
import { z } from 'zod';
import { errorWords } from '../../text/error-words.js';
import { fieldErrors } from '../field-errors.js';
import { strictObject } from '../strict-object.js';
import { CIPHER_NAMES, CURVE_NAMES, VERSION_NAMES } from './go-names.js';

const text = z.string({ error: 'expected a string' }).nullish();

function oneOf<Name extends string>(names: readonly Name[]) {
  return z.enum(names as readonly [Name, ...Name[]], { error: `expected one of ${names.join(', ')}` });
}

function listOf<Item extends z.ZodType>(item: Item) {
  return z.array(item, { error: 'expected a list' }).nullish();
}

/** The client authentication types of Go's TLS server; `RequireClientCert` is an old name of the third. */
export const CLIENT_AUTH_TYPES = [
  'NoClientCert',
  'RequestClientCert',
  'RequireAnyClientCert',
  'RequireClientCert',
  'VerifyClientCertIfGiven',
  'RequireAndVerifyClientCert',
] as const;
export type ClientAuthType = (typeof CLIENT_AUTH_TYPES)[number];

const tlsServerConfig = strictObject({
  cert_file: text,
  key_file: text,
  cert: text,
  key: text,
  client_auth_type: oneOf(CLIENT_AUTH_TYPES).nullish(),
  client_ca_file: text,
  client_ca: text,
  client_allowed_sans: listOf(z.string({ error: 'expected a string' })),
  min_version: oneOf(VERSION_NAMES).nullish(),
  max_version: oneOf(VERSION_NAMES).nullish(),
  cipher_suites: listOf(oneOf(CIPHER_NAMES)),
  prefer_server_cipher_suites: z.boolean({ error: 'expected true or false' }).nullish(),
  curve_preferences: listOf(oneOf(CURVE_NAMES)),
});
export type TlsServerConfig = z.infer<typeof tlsServerConfig>;

/** A line break would end the header, and Node would throw on it at each response. */
const headerValue = z
  .string({ error: 'expected a string' })
  .max(1000, { error: 'expected at most 1000 characters' })
  .regex(/^[\x20-\x7e]*$/, { error: 'expected printable ASCII characters' })
  .nullish();

/** The headers that exporter-toolkit accepts, and no others. */
const headers = strictObject({
  'Strict-Transport-Security': headerValue,
  'X-Content-Type-Options': oneOf(['', 'nosniff']).nullish(),
  'X-Frame-Options': oneOf(['', 'deny', 'sameorigin']).nullish(),
  'X-XSS-Protection': headerValue,
  'Content-Security-Policy': headerValue,
});

/** Above this, one wrong password would keep a core busy for many seconds. */
const MOST_COST = 16;

const bcryptHash = z
  .string({ error: 'expected a bcrypt hash' })
  .max(60, { error: 'expected a bcrypt hash of 60 characters', abort: true })
  .regex(/^\$2[aby]?\$\d\d\$[./A-Za-z0-9]{53}$/, {
    error: 'expected a bcrypt hash, as htpasswd -nBC 10 "" prints it',
    abort: true,
  })
  .refine((hash) => costOf(hash) >= 4 && costOf(hash) <= MOST_COST, {
    error: `expected a bcrypt hash of cost 4 to ${MOST_COST}`,
  });

function costOf(hash: string): number {
  return Number(hash.split('$')[2]);
}

const NO_RATE = 'expected 0: rate_limit is not supported, the number of connections is limited anyway';

const webConfig = strictObject({
  tls_server_config: tlsServerConfig.nullish(),
  http_server_config: strictObject({
    // HTTP/1.1 is served either way, which every client of HTTP/2 also speaks.
    http2: z.boolean({ error: 'expected true or false' }).nullish(),
    headers: headers.nullish(),
  }).nullish(),
  basic_auth_users: z.record(z.string().max(200), bcryptHash, { error: 'expected names with bcrypt hashes' }).nullish(),
  rate_limit: strictObject({
    interval: z.literal([0, '0', '0s'], { error: NO_RATE }).nullish(),
    burst: z.int({ error: 'expected an integer' }).nullish(),
  }).nullish(),
});
export type WebConfigText = z.infer<typeof webConfig>;

export type WebConfigRead =
  | { readonly kind: 'good'; readonly value: WebConfigText }
  | { readonly kind: 'bad'; readonly problems: readonly string[] };

/** Parses the text; every problem names its key. Hashes and keys are never quoted. */
export function parseWebConfig(path: string, written: string): WebConfigRead {
  let said: unknown;
  try {
    said = parse(written, { maxAliasCount: 0, prettyErrors: false }) ?? {};
  } catch (error) {
    return { kind: 'bad', problems: [`${path}: expected YAML: ${errorWords(error)}`] };
  }
  const problems = fieldErrors(webConfig, said).map(({ pointer, detail }) => {
    const secret = /^\/(?:basic_auth_users\/|tls_server_config\/key$)/.test(pointer);
    return `${path}: ${nameOf(pointer)}: ${secret ? detail.replace(/; got [^]*$/, '') : detail}`;
  });
  return problems.length > 0 ? { kind: 'bad', problems } : { kind: 'good', value: webConfig.parse(said) };
}

function nameOf(pointer: string): string {
  return pointer === ''
    ? 'the file'
    : pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
}
