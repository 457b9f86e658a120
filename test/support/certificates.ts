import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A certificate and its key: the paths of the files, and what is in them. */
export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: string;
  readonly key: string;
}

export interface Authority extends Certificate {
  /** Signs a new certificate with these alternative names, in openssl's words: `IP:127.0.0.1,DNS:gate.example`. */
  sign(name: string, alternativeNames: string): Certificate;
}

/** A certificate authority that openssl makes; its files go with the test file. */
export function makeAuthority(name: string): Authority {
  const folder = mkdtempSync(join(tmpdir(), 'certificates-'));
  folders.push(folder);
  const authority = make(folder, 'ca', name, []);
  const { certFile, keyFile } = authority;
  return {
    ...authority,
    sign: (subject, names) =>
      make(folder, subject, subject, ['-CA', certFile, '-CAkey', keyFile, '-addext', `subjectAltName=${names}`]),
  };
}

const NEW = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];

function make(folder: string, file: string, subject: string, more: readonly string[]): Certificate {
  const certFile = join(folder, `${file}.pem`);
  const keyFile = join(folder, `${file}.key`);
  execFileSync('openssl', [...NEW, '-subj', `/CN=${subject}`, '-keyout', keyFile, '-out', certFile, ...more], {
    stdio: 'pipe',
  });
  return { certFile, keyFile, cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
}

const folders: string[] = [];

// For the file that imports this one.
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
