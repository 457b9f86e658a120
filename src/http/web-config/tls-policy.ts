/** The TLS side of a web config: the server's handshake options, and which clients are accepted. */

import { createSecureContext, type TlsOptions, type TLSSocket } from 'node:tls';
import { errorWords } from '../../text/error-words.js';
import { clientRefusal, type ClientRule } from './client-certificates.js';
import { cipherList, curveList, versionOf } from './go-names.js';
import type { ClientAuthType, TlsServerConfig } from './web-config-text.js';

/** PEM texts, read from their files or from the config itself. */
export interface Pems {
  readonly cert: string | null;
  readonly key: string | null;
  readonly clientCa: string | null;
}

export interface TlsPolicy {
  readonly options: TlsOptions;
  /** Why a client that completed the handshake is rejected; null when it is accepted. */
  refusal(socket: TLSSocket): string | null;
}

/** The policy, or every problem with it; each names its key. */
export function tlsPolicy(config: TlsServerConfig, pems: Pems): TlsPolicy | readonly string[] {
  const rule = clientRule(config);
  const problems = contradictions(config, pems, rule);
  if (problems.length > 0) return problems;
  const options: TlsOptions = {
    cert: pems.cert ?? '',
    key: pems.key ?? '',
    ...(pems.clientCa === null ? {} : { ca: pems.clientCa }),
    minVersion: versionOf(config.min_version ?? 'TLS12'),
    maxVersion: versionOf(config.max_version ?? 'TLS13'),
    honorCipherOrder: config.prefer_server_cipher_suites ?? true,
    ...(hasSome(config.cipher_suites) ? { ciphers: cipherList(config.cipher_suites) } : {}),
    ...(hasSome(config.curve_preferences) ? { ecdhCurve: curveList(config.curve_preferences) } : {}),
    requestCert: rule.kind !== 'none',
    // Checked by `refusal`: Node itself supports only required and verified.
    rejectUnauthorized: false,
  };
  try {
    createSecureContext(options);
  } catch (error) {
    return [`tls_server_config: the certificate, its key, or the client CA cannot be used: ${errorWords(error)}`];
  }
  return { options, refusal: (socket) => clientRefusal(socket, rule) };
}

function contradictions(config: TlsServerConfig, { cert, key, clientCa }: Pems, rule: ClientRule): string[] {
  const problems: string[] = [];
  const both = (inline: keyof TlsServerConfig, file: keyof TlsServerConfig): void => {
    if (config[inline] && config[file]) problems.push(`tls_server_config: expected ${inline} or ${file}, not both`);
  };
  both('cert', 'cert_file');
  both('key', 'key_file');
  both('client_ca', 'client_ca_file');
  if (cert === null) problems.push('tls_server_config: expected cert_file, or cert');
  if (key === null) problems.push('tls_server_config: expected key_file, or key');
  if (clientCa !== null && rule.kind === 'none') {
    problems.push('tls_server_config: client_ca has no effect without a client_auth_type');
  }
  // Go would trust every public authority here, and so would Node.
  if (clientCa === null && (rule.kind === 'verify_given' || rule.kind === 'verify')) {
    problems.push(`tls_server_config: ${config.client_auth_type} expects client_ca_file, or client_ca`);
  }
  if (rule.allowedSans !== null && rule.kind !== 'verify' && rule.kind !== 'any') {
    problems.push(
      'tls_server_config: client_allowed_sans expects client_auth_type RequireAnyClientCert or RequireAndVerifyClientCert',
    );
  }
  const [min, max] = [versionOf(config.min_version ?? 'TLS12'), versionOf(config.max_version ?? 'TLS13')];
  if (min > max) problems.push('tls_server_config: expected max_version not below min_version');
  return problems;
}

const KINDS: Readonly<Record<ClientAuthType, ClientRule['kind']>> = {
  NoClientCert: 'none',
  RequestClientCert: 'request',
  RequireAnyClientCert: 'any',
  RequireClientCert: 'any',
  VerifyClientCertIfGiven: 'verify_given',
  RequireAndVerifyClientCert: 'verify',
};

function clientRule(config: TlsServerConfig): ClientRule {
  return { kind: KINDS[config.client_auth_type ?? 'NoClientCert'], allowedSans: config.client_allowed_sans ?? null };
}

function hasSome<T>(list: readonly T[] | null | undefined): list is readonly T[] {
  return list !== null && list !== undefined && list.length > 0;
}
