/** The TLS files of a client: the trusted authority, and the client's own certificate. */

import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { CA_FILE_VARIABLE, CERT_FILE_VARIABLE, KEY_FILE_VARIABLE } from '../../settings/client-variables.js';
import { errorWords } from '../../text/error-words.js';

export interface TlsFileOptions {
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
}

/** PEM, in the form of Node's `https.request` options. */
export interface TlsFiles {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

export type ReadTlsFiles =
  | { readonly kind: 'files'; readonly files: TlsFiles }
  | { readonly kind: 'problem'; readonly detail: string };

/** The files named by flags, else by the environment; empty where neither does. */
export function readTlsFiles(options: TlsFileOptions, env: Readonly<Record<string, string | undefined>>): ReadTlsFiles {
  try {
    const ca = read(options.caFile, env[CA_FILE_VARIABLE]);
    const cert = read(options.certFile, env[CERT_FILE_VARIABLE]);
    const key = read(options.keyFile, env[KEY_FILE_VARIABLE]);
    if ((cert === null) !== (key === null)) {
      return { kind: 'problem', detail: 'expected --cert-file and --key-file together, or neither' };
    }
    const files = { ...(ca === null ? {} : { ca }), ...(cert === null || key === null ? {} : { cert, key }) };
    createSecureContext(files);
    return { kind: 'files', files };
  } catch (error) {
    return { kind: 'problem', detail: `the files for TLS cannot be used: ${errorWords(error)}` };
  }
}

function read(flag: string | undefined, variable: string | undefined): string | null {
  const path = flag ?? variable;
  return path === undefined || path === '' ? null : readFileSync(path, 'utf8');
}
