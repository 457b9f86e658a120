import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { listen, type Listening } from '../../src/http/listen.js';
import type { ListenAddress } from '../../src/settings/addresses.js';
import { REQUEST, startGate } from './gate.js';

const quick = { checkEveryMs: 20, headersMs: 100, requestMs: 200, unreadMs: 200, silentMs: 60_000 };
const open: Listening[] = [];
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'listen-'));
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((listening) => listening.close(0)));
});
afterAll(() => rm(folder, { recursive: true }));

const free: ListenAddress = { kind: 'tcp', host: '127.0.0.1', port: 0 };
const hello = (_req: unknown, res: { end(text: string): void }): void => res.end('hello');

test('every address is listened on, and a port 0 becomes a real one', async () => {
  const path = join(folder, 'several.sock');
  const listening = await listenOn([free, { kind: 'tcp', host: '::1', port: 0 }, { kind: 'unix', path }]);
  expect(listening.addresses).toEqual([
    { kind: 'tcp', host: '127.0.0.1', port: expect.any(Number) },
    { kind: 'tcp', host: '::1', port: expect.any(Number) },
    { kind: 'unix', path },
  ]);
  const [first, second] = listening.addresses.map((address) => (address.kind === 'tcp' ? address.port : 0));
  expect(await (await fetch(`http://127.0.0.1:${first}`)).text()).toBe('hello');
  expect(await (await fetch(`http://[::1]:${second}`)).text()).toBe('hello');
  expect((await stat(path)).mode & 0o777).toBe(0o660);
});

test('an address that is taken is said to be, and the others are given back', async () => {
  const [taken] = (await listenOn([free])).addresses;
  const path = join(folder, 'given-back.sock');
  if (taken?.kind !== 'tcp') throw new Error('not listening');
  await expect(listen(hello, [{ kind: 'unix', path }, taken])).rejects.toThrow(
    `cannot listen on 127.0.0.1:${taken.port}: another program listens there already`,
  );
  await expect(stat(path)).rejects.toThrow('ENOENT');
});

test('an address that this machine does not have is said to be that', async () => {
  await expect(listen(hello, [{ kind: 'tcp', host: '192.0.2.1', port: 0 }])).rejects.toThrow(
    'cannot listen on 192.0.2.1:0: this machine does not have the address',
  );
});

test('a socket that a killed gate left behind is taken over', async () => {
  const path = join(folder, 'stale.sock');
  const program = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => console.log('up'))`;
  const dead = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(dead.stdout, 'data');
  dead.kill('SIGKILL');
  await once(dead, 'exit');
  expect((await stat(path)).isSocket()).toBe(true);
  await listenOn([{ kind: 'unix', path }]);
  expect(await overUnix(path, '/')).toMatchObject({ status: 200, text: 'hello' });
});

test('a socket on which somebody answers is left alone', async () => {
  const path = join(folder, 'alive.sock');
  const other = createServer((_req, res) => res.end('other')).listen(path);
  await once(other, 'listening');
  await expect(listen(hello, [{ kind: 'unix', path }])).rejects.toThrow(
    `cannot listen on unix:${path}: another program listens there already`,
  );
  expect(await overUnix(path, '/')).toMatchObject({ text: 'other' });
  other.close();
});

test('a file that is no socket is left alone', async () => {
  const path = join(folder, 'notes.txt');
  await writeFile(path, 'dear diary');
  await expect(listen(hello, [{ kind: 'unix', path }])).rejects.toThrow('there is a file there that is not a socket');
  expect((await stat(path)).size).toBe(10);
});

test('on a unix socket any Host will do', async () => {
  const gate = await startGate();
  const path = join(folder, 'any-host.sock');
  await listenOn([{ kind: 'unix', path }], gate.app);
  expect(await overUnix(path, '/cards', { Host: 'evil.example' })).toMatchObject({ status: 200 });
});

test.each([
  [
    'a body that does not end',
    `POST /admit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{`,
  ],
  ['headers that do not end', 'POST /admit HTTP/1.1\r\nHost: local'],
])('%s is cut off with 408', async (_says, text) => {
  const gate = await startGate({}, quick);
  const answer = await speak(gate.url, text);
  expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
  expect(answer).toContain('Content-Type: application/problem+json\r\n');
  expect(problemIn(answer)).toMatchObject({ code: 'request_timeout', status: 408, retryable: false });
  expect(gate.calls).toEqual([]);
});

test('an admission whose body does not end is counted as a caller that has gone', async () => {
  const gate = await startGate({}, quick);
  await speak(
    gate.url,
    'POST /admit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{',
  );
  await expect.poll(() => gate.outcomes).toEqual(['client_gone']);
});

test('headers that are too large get 431', async () => {
  const gate = await startGate();
  const answer = await speak(
    gate.url,
    `GET /cards HTTP/1.1\r\nHost: localhost\r\nX-Large: ${'x'.repeat(100_000)}\r\n\r\n`,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 431 /);
  expect(problemIn(answer)).toMatchObject({ code: 'headers_too_large', status: 431 });
});

test('what is not HTTP gets 400', async () => {
  const gate = await startGate();
  const answer = await speak(gate.url, 'hello there\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(problemIn(answer)).toMatchObject({ code: 'invalid_request' });
});

test('an Expect that nobody knows is passed over, and a CONNECT is told that this is no proxy', async () => {
  const gate = await startGate();
  const head = 'Host: localhost\r\nConnection: close';
  const answer = await speak(gate.url, `GET /nowhere HTTP/1.1\r\n${head}\r\nExpect: a miracle\r\n\r\n`);
  expect(problemIn(answer)).toMatchObject({ code: 'not_found', status: 404 });
  const connected = await speak(gate.url, `CONNECT example.org:443 HTTP/1.1\r\n${head}\r\n\r\n`);
  expect(connected).toMatch(/^HTTP\/1\.1 405 Method Not Allowed\r\n/);
  expect(problemIn(connected)).toMatchObject({ code: 'method_not_allowed', retryable: false });
});

test('a request without a Host is refused like any other wrong one', async () => {
  const gate = await startGate();
  const answer = await speak(gate.url, 'GET /cards HTTP/1.1\r\nConnection: close\r\n\r\n');
  expect(problemIn(answer)).toMatchObject({
    code: 'forbidden',
    detail: expect.stringContaining('the header Host is missing'),
  });
});

test('closing lets an answer under way end and then closes its connection', async () => {
  const gate = await startGate();
  const started = deferred();
  const finish = deferred();
  gate.decide = async () => {
    started.resolve();
    await finish.promise;
    return { kind: 'refused', code: 'draining', detail: 'x' };
  };
  const answer = gate.post(REQUEST);
  await started.promise;
  const closed = gate.listening.close(10_000);
  finish.resolve();
  expect((await answer).status).toBe(503);
  expect(await closed).toBe(true);
  await expect(fetch(gate.url)).rejects.toThrow('fetch failed');
});

test('closing cuts what does not end within its grace, and says so', async () => {
  const gate = await startGate();
  const started = deferred();
  gate.decide = () => {
    started.resolve();
    return new Promise(() => undefined);
  };
  const answer = gate.post(REQUEST).then(
    () => 'answered',
    () => 'cut',
  );
  await started.promise;
  expect(await gate.listening.close(50)).toBe(false);
  expect(await answer).toBe('cut');
});

test('closing does not wait for connections that say nothing', async () => {
  const gate = await startGate();
  const silent = connect(Number(new URL(gate.url).port), '127.0.0.1');
  await once(silent, 'connect');
  silent.write('GET /cards HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(silent, 'data');
  expect(await gate.listening.close(10_000)).toBe(true);
});

async function listenOn(
  addresses: readonly ListenAddress[],
  app: Parameters<typeof listen>[0] = hello,
): Promise<Listening> {
  const listening = await listen(app, addresses);
  open.push(listening);
  return listening;
}

/** Sends raw text and gives everything that comes back until the other side closes. */
async function speak(url: string, text: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => (answer += String(chunk)));
  socket.on('error', () => undefined);
  socket.write(text);
  await once(socket, 'close');
  return answer;
}

function problemIn(answer: string): unknown {
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));
}

async function overUnix(
  socketPath: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number | undefined; text: string }> {
  const client = httpRequest({ socketPath, path, headers }).end();
  const [response] = (await once(client, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode, text };
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
