/** Go's names of cipher suites, curves and TLS versions, as web config files use them, with OpenSSL's for the same. */

/** The suites of Go's `tls.CipherSuites()`; those of TLS 1.3 are accepted and, as in Go, always on. */
const CIPHERS = {
  TLS_AES_128_GCM_SHA256: null,
  TLS_AES_256_GCM_SHA384: null,
  TLS_CHACHA20_POLY1305_SHA256: null,
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
} as const;

const CURVES = {
  X25519: 'X25519',
  CurveP256: 'prime256v1',
  CurveP384: 'secp384r1',
  CurveP521: 'secp521r1',
} as const;

const VERSIONS = { TLS10: 'TLSv1', TLS11: 'TLSv1.1', TLS12: 'TLSv1.2', TLS13: 'TLSv1.3' } as const;

export type CipherName = keyof typeof CIPHERS;
export type CurveName = keyof typeof CURVES;
export type VersionName = keyof typeof VERSIONS;

export const CIPHER_NAMES = Object.keys(CIPHERS) as CipherName[];
export const CURVE_NAMES = Object.keys(CURVES) as CurveName[];
export const VERSION_NAMES = Object.keys(VERSIONS) as VersionName[];

const TLS13 = 'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256';

/** OpenSSL's cipher list for these suites; the order is the server's preference. */
export function cipherList(names: readonly CipherName[]): string {
  return [TLS13, ...names.map((name) => CIPHERS[name]).filter((name) => name !== null)].join(':');
}

export function curveList(names: readonly CurveName[]): string {
  return names.map((name) => CURVES[name]).join(':');
}

export function versionOf(name: VersionName): (typeof VERSIONS)[VersionName] {
  return VERSIONS[name];
}
