import { once } from 'node:events';
import { createServer as createPlain } from 'node:http';
import { createServer as createTls, type ServerOptions } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { findGate, type GateOptions } from '../../src/cli/client/ask-gate.js';
import { makeAuthority } from '../support/certificates.js';
import { freePort } from '../support/services/redis.js';

/** What a command says where no gate answers, against real servers. */

const ours = makeAuthority('ours');
const theirs = makeAuthority('theirs');
const here = ours.sign('here', 'IP:127.0.0.1');
const elsewhere = ours.sign('elsewhere', 'DNS:elsewhere.example');

const servers: Server[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

async function listening(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const withTls = (options: ServerOptions): Promise<number> =>
  listening(createTls(options, (_req, res) => res.end('{}')).on('tlsClientError', () => {}));

async function said(options: GateOptions): Promise<string> {
  const found = findGate(options, {});
  if (found.kind === 'problem') throw new Error(found.detail);
  const answer = await found.gate.ask('/cards');
  return answer.kind === 'unreachable' ? answer.detail : `answered ${answer.status}`;
}

describe('where no gate answers, the command says what can be done', () => {
  test('nobody listens', async () => {
    expect(await said({ url: `127.0.0.1:${await freePort()}` })).toMatch(
      /ECONNREFUSED.*; start it with gpu-gate serve/,
    );
    expect(await said({ url: 'unix:/nowhere/gate.sock' })).toMatch(/ENOENT.*; start it with gpu-gate serve/);
  });

  test('the certificate is signed by an authority that is not known here', async () => {
    const url = `https://127.0.0.1:${await withTls(here)}`;
    expect(await said({ url })).toMatch(/; name the authority that signed its certificate with --ca-file/);
    expect(await said({ url, caFile: theirs.certFile })).toMatch(/--ca-file/);
    expect(await said({ url, caFile: ours.certFile })).toBe('answered 200');
  });

  test('the certificate is for another name', async () => {
    const url = `https://127.0.0.1:${await withTls(elsewhere)}`;
    expect(await said({ url, caFile: ours.certFile })).toMatch(/; use a name in --url that its certificate has/);
  });

  test('it speaks plain HTTP, or TLS, and the command the other', async () => {
    const plain = await listening(createPlain((_req, res) => res.end('{}')));
    expect(await said({ url: `https://127.0.0.1:${plain}` })).toMatch(/; if it does not speak TLS, write http:\/\//);
    expect(await said({ url: `http://127.0.0.1:${await withTls(here)}` })).toMatch(
      /; if it speaks TLS, write https:\/\//,
    );
  });

  test('it asks for a client certificate', async () => {
    const port = await withTls({ ...here, ca: ours.cert, requestCert: true, rejectUnauthorized: true });
    const options = { url: `https://127.0.0.1:${port}`, caFile: ours.certFile };
    expect(await said(options)).toMatch(/--cert-file and --key-file name one/);
    const { certFile, keyFile } = ours.sign('client', 'DNS:client');
    expect(await said({ ...options, certFile, keyFile })).toBe('answered 200');
  });
});
