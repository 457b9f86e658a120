import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine } from './engine.js';
import { createStandInRegistry } from './stand-in-registry.js';

/** The one login that a registry with `login` accepts. */
export const LOGIN = { username: 'puller', password: 'let-me-in' };
/** bcrypt of that password; the registry accepts nothing else. */
const HTPASSWD = 'puller:$2b$04$abcdefghijklmnopqrstuudxA/1BY5FxPYA69jUrJOJFmTyoe9T1a\n';

export interface RegistryOptions {
  /** Requires `LOGIN`. */
  readonly login?: boolean;
  /** By default Debian's registry if installed, else the stand-in. */
  readonly program?: 'docker-registry' | 'stand-in';
}

/** A registry that only this engine can reach. */
export interface Registry {
  /** `127.0.0.1:5000`: the registry in image names. Docker uses plain HTTP for loopback addresses. */
  readonly host: string;
  /** Every request so far, `GET /v2/…`. */
  readonly requests: readonly string[];
  /**
   * Stores the test image with a layer of its own under that name and removes it from the engine. Returns the name to pull.
   */
  push(repository: string): Promise<string>;
  /** The same image, in a list that has it for mainframes alone. */
  pushForOthers(repository: string): Promise<string>;
  /** From now on layers wait until `release`. */
  hold(): void;
  release(): void;
  stop(): Promise<void>;
}

let ports = 5000;

/**
 * Starts a registry on a unix socket, and a small program inside the engine's network that forwards a port to it. A proxy in
 * this process records the requests and can hold layers back.
 */
export async function startRegistry(engine: Engine, options: RegistryOptions = {}): Promise<Registry> {
  const port = ports++;
  const folder = join(engine.folder, `registry-${port}`);
  mkdirSync(folder);
  const program = options.program ?? (existsSync('/usr/bin/docker-registry') ? 'docker-registry' : 'stand-in');
  const login = options.login ?? false;
  const real = program === 'docker-registry' ? await startDebianRegistry(folder, login) : null;
  const handle = real?.handle ?? createStandInRegistry(login ? LOGIN : null);

  const requests: string[] = [];
  const gate = createGate();
  const front = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const isLayer = request.method === 'GET' && request.url?.includes('/blobs/') === true;
    void (isLayer ? gate.passed() : Promise.resolve()).then(() => handle(request, response));
  });
  const socket = join(folder, 'front.sock');
  front.listen(socket);
  await once(front, 'listening');
  const forwarder = await startForwarder(engine, port, socket);
  const host = `127.0.0.1:${port}`;

  const registry: Registry = {
    host,
    requests,
    async push(repository) {
      await writeLayer(engine, `${host}/${repository}`);
      const named = engine.docker.getImage(`${host}/${repository}:latest`);
      const failure = await lastError(await named.push({ authconfig: { ...LOGIN, serveraddress: host } }));
      if (failure !== null) throw new Error(`could not push to the test registry: ${failure}`);
      await named.remove();
      return `${host}/${repository}:latest`;
    },
    async pushForOthers(repository) {
      await registry.push(repository);
      const put = (method: 'GET' | 'PUT', tag: string, body = '') =>
        askAt(socket, method, `/v2/${repository}/manifests/${tag}`, body);
      const manifest = await put('GET', 'latest');
      const digest = `sha256:${createHash('sha256').update(manifest).digest('hex')}`;
      const platform = { os: 'linux', architecture: 's390x' };
      const manifests = [{ mediaType: MANIFEST, digest, size: manifest.length, platform }];
      await put('PUT', 'others', JSON.stringify({ schemaVersion: 2, mediaType: LIST, manifests }));
      return `${host}/${repository}:others`;
    },
    hold: gate.close,
    release: gate.open,
    async stop() {
      gate.open();
      forwarder.end();
      real?.end();
      front.close();
      front.closeAllConnections();
      await once(front, 'close');
    },
  };
  return registry;
}

const MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json';
const LIST = 'application/vnd.docker.distribution.manifest.list.v2+json';

/** One request to the registry, from this side of the engine's network. */
async function askAt(socketPath: string, method: 'GET' | 'PUT', path: string, body: string): Promise<Buffer> {
  const authorization = `Basic ${Buffer.from(`${LOGIN.username}:${LOGIN.password}`).toString('base64')}`;
  const headers = { authorization, ...(method === 'GET' ? { accept: MANIFEST } : { 'content-type': LIST }) };
  const asking = httpRequest({ socketPath, method, path, headers }).end(body);
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  const text = await buffer(answer);
  if ((answer.statusCode ?? 500) >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text.toString()}`);
  return text;
}

function createGate() {
  let waiting: (() => void)[] | null = null;
  return {
    close: () => void (waiting ??= []),
    open() {
      for (const go of waiting ?? []) go();
      waiting = null;
    },
    passed: () => new Promise<void>((resolve) => (waiting === null ? resolve() : void waiting.push(resolve))),
  };
}

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

async function startDebianRegistry(folder: string, login: boolean): Promise<{ handle: Handle; end: () => void }> {
  const socketPath = join(folder, 'registry.sock');
  writeFileSync(join(folder, 'htpasswd'), HTPASSWD);
  const auth = login ? `auth: { htpasswd: { realm: gate, path: ${join(folder, 'htpasswd')} } }\n` : '';
  writeFileSync(
    join(folder, 'config.yml'),
    `version: 0.1
log: { level: error }
storage: { filesystem: { rootdirectory: ${join(folder, 'data')} } }
http: { net: unix, addr: ${socketPath}, relativeurls: true }
${auth}`,
  );
  const registry = spawn('docker-registry', ['serve', join(folder, 'config.yml')], { stdio: 'ignore' });
  for (let tries = 0; tries < 500 && !existsSync(socketPath); tries += 1) await sleep(20);
  const handle: Handle = (request, response) => {
    const onward = httpRequest({ socketPath, method: request.method, path: request.url, headers: request.headers });
    onward.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.once('error', () => response.destroy());
    request.pipe(onward);
  };
  return { handle, end: () => registry.kill('SIGKILL') };
}

/** Runs in the engine's network; ends when its standard input closes. */
const FORWARDER = `
const net = require('node:net');
const [port, path] = process.argv.slice(1);
const server = net.createServer((from) => {
  const to = net.connect(path);
  from.pipe(to).pipe(from);
  from.on('error', () => to.destroy());
  to.on('error', () => from.destroy());
});
server.listen(Number(port), '127.0.0.1', () => console.log('ready'));
process.stdin.resume().on('end', () => process.exit());
`;

async function startForwarder(engine: Engine, port: number, socket: string): Promise<{ end: () => void }> {
  const [command, ...argv] = engine.inside(process.execPath, '-e', FORWARDER, String(port), socket);
  const child = spawn(command, argv, { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return { end: () => child.stdin.end() };
}

async function writeLayer(engine: Engine, repo: string): Promise<void> {
  const container = await engine.docker.createContainer({
    Image: engine.image,
    Cmd: ['sh', '-c', `echo ${repo} > /pulled`],
    HostConfig: { NetworkMode: 'none' },
  });
  await container.start();
  await container.wait();
  await container.commit({ repo, tag: 'latest', changes: 'CMD ["cat", "/pulled"]' });
  await container.remove();
}

async function lastError(stream: NodeJS.ReadableStream): Promise<string | null> {
  let text = '';
  for await (const chunk of stream) text += chunk.toString();
  const line = text.split('\n').find((one) => one.includes('"error"'));
  return line === undefined ? null : line.trim();
}
