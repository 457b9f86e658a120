import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeAuthority } from '../support/certificates.js';
import { PROJECT } from './project.js';

/** The command of the image's health check, against servers as the settings would have them. */

const authority = makeAuthority('healthcheck');
const { cert, key } = authority.sign('gate', 'IP:127.0.0.1');
const plain = createHttp((_req, res) => void res.end('{}'));
const ill = createHttp((_req, res) => void res.writeHead(500).end());
const tls = createHttps({ cert, key }, (_req, res) => void res.end('{}'));
/** It asks for a certificate that the health check does not have. */
const mutual = createHttps({ cert, key, ca: authority.cert, requestCert: true, rejectUnauthorized: true });
const servers = { plain, ill, tls, mutual };

beforeAll(async () => {
  for (const server of Object.values(servers)) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
});
afterAll(() => {
  for (const server of Object.values(servers)) server.close();
});

const text = readFileSync(join(PROJECT, 'Dockerfile'), 'utf8').replaceAll('\\\n', '');
const [, command = '[]'] = /^HEALTHCHECK .*CMD (.*)$/m.exec(text) ?? [];

function codeOf(env: Readonly<Record<string, string>>): Promise<number> {
  const [, ...args] = JSON.parse(command) as string[];
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, { env: { ...env } }, () => resolve(child.exitCode ?? -1));
  });
}

test.each<[string, keyof typeof servers | null, boolean, number]>([
  ['plain HTTP', 'plain', false, 0],
  ['plain HTTP beside a web config that has no TLS', 'plain', true, 0],
  ['an answer that is not 200', 'ill', false, 1],
  ['TLS', 'tls', true, 0],
  ['TLS that asks for a certificate', 'mutual', true, 0],
  ['nobody', null, false, 1],
  ['nobody, where there is a web config', null, true, 1],
])('%s', async (_says, name, webConfig, code) => {
  const port = name === null ? 1 : (servers[name].address() as AddressInfo).port;
  const listen = { TUNEPLANE_METRICS_LISTEN: '', TUNEPLANE_LISTEN: `127.0.0.1:${port},unix:/none.sock` };
  expect(await codeOf({ ...listen, ...(webConfig ? { TUNEPLANE_WEB_CONFIG_FILE: '/etc/web.yml' } : {}) })).toBe(code);
});
