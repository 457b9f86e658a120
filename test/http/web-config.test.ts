import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import express from 'express';
import { afterEach, describe, expect, test } from 'vitest';
import { listen, type Listening } from '../../src/http/listen.js';
import { createBasicAuth } from '../../src/http/web-config/basic-auth.js';
import type { BcryptThread } from '../../src/http/web-config/bcrypt-thread.js';
import { alternativeNames } from '../../src/http/web-config/client-certificates.js';
import { createTlsFront } from '../../src/http/web-config/tls-front.js';
import { tlsPolicy, type Pems } from '../../src/http/web-config/tls-policy.js';
import { openWebConfigFile } from '../../src/http/web-config/web-config-file.js';
import { CLIENT_AUTH_TYPES, parseWebConfig, type TlsServerConfig } from '../../src/http/web-config/web-config-text.js';
import { SILENT } from '../../src/log/silent-log.js';
import { systemClock } from '../../src/time/system-clock.js';
import { makeAuthority, type Certificate } from '../support/certificates.js';

const HASH = `$2y$10$${'a'.repeat(53)}`;

describe('the text of a web config', () => {
  test('may have every key that the exporters know', () => {
    const text = `
tls_server_config:
  cert_file: a
  key_file: b
  cert: ''
  key: ''
  client_ca_file: c
  client_ca:
  client_auth_type: RequireAndVerifyClientCert
  client_allowed_sans: [a.example]
  min_version: TLS12
  max_version: TLS13
  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS_AES_128_GCM_SHA256]
  prefer_server_cipher_suites: false
  curve_preferences: [X25519, CurveP256]
http_server_config:
  http2: true
  headers:
    Strict-Transport-Security: max-age=60
    X-Content-Type-Options: nosniff
    X-Frame-Options: deny
    X-XSS-Protection: '1'
    Content-Security-Policy: default-src 'self'
basic_auth_users:
  prometheus: ${HASH}
rate_limit: { interval: 0, burst: 0 }
`;
    expect(parseWebConfig('web.yml', text)).toMatchObject({ kind: 'good' });
    expect(parseWebConfig('web.yml', '# nothing yet\n')).toMatchObject({ kind: 'good', value: {} });
  });

  test.each([
    ['an unknown key', 'tls_config: {}', 'web.yml: tls_config: unknown key; known here: tls_server_config'],
    ['an unknown key inside', 'tls_server_config: {cert_fil: x}', 'web.yml: tls_server_config.cert_fil: unknown key'],
    [
      'another header',
      'http_server_config: {headers: {Set-Cookie: a}}',
      'web.yml: http_server_config.headers.Set-Cookie',
    ],
    [
      'another version',
      'tls_server_config: {min_version: SSL3}',
      'expected one of TLS10, TLS11, TLS12, TLS13; got "SSL3"',
    ],
    [
      'another cipher',
      'tls_server_config: {cipher_suites: [TLS_RSA_WITH_RC4_128_SHA]}',
      'web.yml: tls_server_config.cipher_suites.0',
    ],
    [
      'a rate limit',
      'rate_limit: {interval: 1s, burst: 2}',
      'web.yml: rate_limit.interval: expected 0: rate_limit is not supported',
    ],
    ['two values for a key', 'basic_auth_users: {}\nbasic_auth_users: {}', 'web.yml: expected YAML: '],
    [
      'a line break in a header',
      'http_server_config: {headers: {X-XSS-Protection: "1\\r\\nA: b"}}',
      'expected printable ASCII',
    ],
  ])('with %s is refused by name', (_says, text, problem) => {
    expect(parseWebConfig('web.yml', text)).toMatchObject({
      kind: 'bad',
      problems: [expect.stringContaining(problem)],
    });
  });

  test('with a password where its hash should be is refused, and nothing of it is repeated', () => {
    const read = parseWebConfig('web.yml', 'basic_auth_users: {prometheus: hunter2}');
    expect(read).toEqual({
      kind: 'bad',
      problems: ['web.yml: basic_auth_users.prometheus: expected a bcrypt hash, as htpasswd -nBC 10 "" prints it'],
    });
  });
});

const ours = makeAuthority('ours');
const others = makeAuthority('others');
const server = ours.sign('server', 'IP:127.0.0.1');
const PEMS = { cert: server.cert, key: server.key, clientCa: ours.cert };

describe('a TLS config', () => {
  test.each<[string, TlsServerConfig, Partial<Pems>, string]>([
    ['without a certificate', {}, { cert: null }, 'expected cert_file, or cert'],
    ['with a certificate twice', { cert: 'a', cert_file: 'b' }, {}, 'expected cert or cert_file, not both'],
    ['with the key of another', {}, { key: others.key, clientCa: null }, 'cannot be used'],
    ['with an authority that nobody asks', {}, {}, 'client_ca has no effect'],
    ['with names and no demand for a certificate', { client_allowed_sans: ['a'] }, {}, 'client_allowed_sans expects'],
    ['with versions the wrong way round', { min_version: 'TLS13', max_version: 'TLS12' }, {}, 'max_version'],
  ])('%s is refused', (_says, config, pems, problem) => {
    expect(tlsPolicy(config, { ...PEMS, ...pems })).toEqual(expect.arrayContaining([expect.stringContaining(problem)]));
  });

  test('that verifies by no authority is refused: every public one would do', () => {
    const config: TlsServerConfig = { client_auth_type: 'RequireAndVerifyClientCert' };
    expect(tlsPolicy(config, { ...PEMS, clientCa: null })).toEqual([
      'tls_server_config: RequireAndVerifyClientCert expects client_ca_file, or client_ca',
    ]);
  });
});

test('the files that it names are told, so that no job is given them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'web-config-'));
  const path = join(folder, 'web.yml');
  writeFileSync(path, `tls_server_config: { cert_file: ${server.certFile}, key_file: key.pem }`);
  writeFileSync(join(folder, 'key.pem'), server.key);
  const opened = await openWebConfigFile({ path, mustHaveTls: true, clock: systemClock, log: SILENT });
  rmSync(folder, { recursive: true });
  if (opened.kind === 'bad') throw new Error(opened.problems.join('; '));
  expect(opened.file.latest().files).toEqual([server.certFile, join(folder, 'key.pem')]);
});

const open: Listening[] = [];
afterEach(() => Promise.all(open.splice(0).map((each) => each.close(0))));

async function listening(config: TlsServerConfig): Promise<number> {
  const clientCa = (config.client_auth_type ?? 'NoClientCert') === 'NoClientCert' ? null : ours.cert;
  const policy = tlsPolicy(config, { ...PEMS, clientCa });
  if (!('options' in policy)) throw new Error(policy.join('; '));
  const started = await listen((_req, res) => void res.end('hello'), [{ kind: 'tcp', host: '127.0.0.1', port: 0 }], {
    front: (serve) => createTlsFront({ connections: () => policy, handshakeMs: 1000, serve }),
  });
  open.push(started);
  return started.addresses[0]?.kind === 'tcp' ? started.addresses[0].port : 0;
}

/** What it was told, or that it was cut off. */
async function ask(port: number, own: Partial<Certificate>, how: object = {}): Promise<string> {
  const { cert, key } = own;
  const socket: TLSSocket = connect({ port, host: '127.0.0.1', ca: ours.cert, cert, key, ...how });
  let said = '';
  socket.on('data', (chunk) => (said += String(chunk)));
  socket.on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  await new Promise((resolve) => socket.once('close', resolve));
  return said.endsWith('hello') ? 'served' : 'cut off';
}

describe('whether a client is served', () => {
  const clients: Readonly<Record<string, Partial<Certificate>>> = {
    none: {},
    ours: ours.sign('client', 'DNS:prometheus.example,IP:::1'),
    others: others.sign('client', 'DNS:prometheus.example'),
  };
  const SERVED: Readonly<Record<(typeof CLIENT_AUTH_TYPES)[number], readonly string[]>> = {
    NoClientCert: ['none', 'ours', 'others'],
    RequestClientCert: ['none', 'ours', 'others'],
    RequireAnyClientCert: ['ours', 'others'],
    RequireClientCert: ['ours', 'others'],
    VerifyClientCertIfGiven: ['none', 'ours'],
    RequireAndVerifyClientCert: ['ours'],
  };
  test.each(CLIENT_AUTH_TYPES)('with %s', async (type) => {
    const port = await listening({ client_auth_type: type });
    for (const [name, own] of Object.entries(clients)) {
      expect([name, await ask(port, own)]).toEqual([name, SERVED[type].includes(name) ? 'served' : 'cut off']);
    }
  });

  test.each([
    ['DNS name', ['x', 'prometheus.example'], 'served'],
    ['address', ['::1'], 'served'],
    ['part of a name', ['example'], 'cut off'],
  ])('by its %s', async (_says, names, outcome) => {
    const port = await listening({ client_auth_type: 'RequireAndVerifyClientCert', client_allowed_sans: names });
    expect(await ask(port, clients['ours'] ?? {})).toBe(outcome);
  });

  test('by its version and its ciphers', async () => {
    const port = await listening({ max_version: 'TLS12', cipher_suites: ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384'] });
    expect(await ask(port, {})).toBe('served');
    expect(await ask(port, {}, { minVersion: 'TLSv1.3' })).toBe('cut off');
    expect(await ask(port, {}, { ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' })).toBe('cut off');
  });
});

test('alternative names are read as they are, even where one looks like several', () => {
  expect(
    alternativeNames(
      'DNS:a.example, IP Address:10.0.0.1, IP Address:0:0:0:0:0:0:0:1, URI:"spiffe://a, DNS:evil", email:a@b',
    ),
  ).toEqual(['a.example', '10.0.0.1', '::1', 'spiffe://a, DNS:evil', 'a@b']);
});

describe('a password', () => {
  async function askingFor(bcrypt: BcryptThread, users = new Map([['prometheus', HASH]])) {
    const app = express();
    app.get('/', createBasicAuth({ users: () => users, bcrypt }), (_req, res) => void res.end('page'));
    const started = await listen(app, [{ kind: 'tcp', host: '127.0.0.1', port: 0 }]);
    open.push(started);
    const port = started.addresses[0]?.kind === 'tcp' ? started.addresses[0].port : 0;
    return async (header?: string) =>
      (await fetch(`http://127.0.0.1:${port}/`, header === undefined ? {} : { headers: { authorization: header } }))
        .status;
  }
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

  test('is compared once, right or wrong, until its hash changes', async () => {
    const compared: string[] = [];
    const users = new Map([['prometheus', HASH]]);
    const thread: BcryptThread = {
      matches: async (password) => {
        compared.push(password);
        return password === 'a:b';
      },
    };
    const asked = await askingFor(thread, users);
    for (const times of [1, 2]) {
      expect([times, await asked(basic('prometheus:a:b')), await asked(basic('prometheus:no'))]).toEqual([
        times,
        200,
        401,
      ]);
      expect([
        await asked(basic('nobody:a:b')),
        await asked(),
        await asked('Basic ?'),
        await asked('Bearer x'),
      ]).toEqual([401, 401, 401, 401]);
    }
    expect(compared).toEqual(['a:b', 'no', 'a:b']);
    users.set('prometheus', HASH.replace('a', 'b'));
    await asked(basic('prometheus:a:b'));
    expect(compared).toHaveLength(4);
  });

  test('that cannot be compared now is asked for again', async () => {
    const asked = await askingFor({ matches: async () => null });
    expect(await asked(basic('prometheus:x'))).toBe(503);
  });

  test('is not asked for where there are no users', async () => {
    expect(await (await askingFor({ matches: async () => null }, new Map()))()).toBe(200);
  });
});
