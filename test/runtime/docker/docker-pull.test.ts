import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Docker from 'dockerode';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createImages } from '../../../src/runtime/docker/images.js';
import { createFindAuth } from '../../../src/runtime/docker/registry-auth.js';
import { systemClock } from '../../../src/time/system-clock.js';
import { listeningLog } from '../../support/jobs.js';

/** The gate's pull beside the real `docker pull`, on one config.json: what each of them shows an engine that writes it down. */

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'side-by-side-'));
const socketPath = join(folder, 'docker.sock');
const shown: unknown[] = [];
const pulled = new Set<string>();

const engine = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://engine');
  const path = url.pathname.replace(/^\/v[\d.]+/, '');
  response.setHeader('API-Version', '1.41');
  response.setHeader('content-type', 'application/json');
  if (path === '/info') return response.end('{"IndexServerAddress":"https://index.docker.io/v1/"}');
  if (path !== '/images/create') {
    if (pulled.has(path)) return response.end('{"Id":"sha256:0"}');
    response.statusCode = path === '/_ping' ? 200 : 404;
    return response.end(path === '/_ping' ? 'OK' : '{"message":"no such image"}');
  }
  const auth = Buffer.from(String(request.headers['x-registry-auth'] ?? ''), 'base64').toString();
  shown.push(auth === '' ? {} : JSON.parse(auth));
  pulled.add(`/images/${url.searchParams.get('fromImage')}:${url.searchParams.get('tag')}/json`);
  return response.end('{"status":"done"}\n');
});
beforeAll(async () => {
  engine.listen(socketPath);
  await once(engine, 'listening');
});
afterAll(() => {
  engine.close();
  engine.closeAllConnections();
  rmSync(folder, { recursive: true });
});

const login = (user: string) => ({ auth: Buffer.from(`${user}:secret`).toString('base64') });

const HOST = ['r.local:5000/train'];
const HUB = ['train'];
const ALL = [
  ...HOST,
  ...HUB,
  'R.local:5000/train',
  'index.docker.io/library/train',
  'docker.io/me/train',
  'registry-1.docker.io/library/train',
];

test.each<[string, object, readonly string[]]>([
  ['the host', { 'r.local:5000': login('host') }, ALL],
  ['an address of http', { 'http://r.local:5000/v1/': login('http') }, HOST],
  ['an address of version 2', { 'https://r.local:5000/v2/': login('v2') }, HOST],
  ['a host with a path', { 'r.local:5000/v2/': login('path') }, HOST],
  ['upper case', { 'R.LOCAL:5000': login('upper') }, HOST],
  ['the host without its port', { 'r.local': login('portless') }, HOST],
  ['the host and an address', { 'https://r.local:5000/v1/': login('old'), 'r.local:5000': login('new') }, HOST],
  ['the address of Docker Hub', { 'https://index.docker.io/v1/': login('hub') }, ALL],
  ['Docker Hub without its version', { 'https://index.docker.io': login('hub') }, HUB],
  ['the host of Docker Hub', { 'index.docker.io': login('hub') }, HUB],
  ['docker.io', { 'docker.io': login('hub') }, HUB],
  [
    'the registry behind Docker Hub',
    { 'registry-1.docker.io': login('hub') },
    [...HUB, 'registry-1.docker.io/library/train'],
  ],
  ['an identity token beside a login', { 'r.local:5000': { ...login('<token>'), identitytoken: 'abc' } }, HOST],
  ['a login that is written out', { 'r.local:5000': { username: 'plain', password: 'secret' } }, HOST],
  ['a password with colons', { 'r.local:5000': { auth: Buffer.from('me:a:b:c').toString('base64') } }, HOST],
  ['an entry without a secret', { 'r.local:5000': {} }, HOST],
])('with %s in config.json, the gate shows a registry what docker pull shows it', async (_what, auths, asked) => {
  const path = join(folder, 'config.json');
  writeFileSync(path, JSON.stringify({ auths }));
  const docker = new Docker({ socketPath });
  const findAuth = createFindAuth({ path, explicit: true });
  for (const image of asked) {
    shown.length = 0;
    await run('docker', ['--config', folder, '--host', `unix://${socketPath}`, 'pull', '--quiet', `${image}:1`]);
    pulled.clear();
    await createImages({ docker, clock: systemClock, log: listeningLog(), findAuth }).ensure(`${image}:1`, 5000);
    expect(shown, image).toHaveLength(2);
    expect(told(shown[1]), image).toEqual(told(shown[0]));
  }
});

/** Without what says nothing: Docker's client names the registry even where it has nobody to show. */
function told(auth: unknown): object {
  const { username, password, identitytoken, registrytoken, serveraddress } = auth as Record<
    string,
    string | undefined
  >;
  const secrets = Object.entries({ username, password, identitytoken, registrytoken }).filter(([, value]) => value);
  return secrets.length === 0 ? {} : { ...Object.fromEntries(secrets), serveraddress };
}
