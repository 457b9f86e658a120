import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MOST_WAITING } from '../../src/http/connections/one-at-a-time.js';
import { connectionShares, descriptorLimit } from '../../src/http/connections/shares.js';
import { listen, type Listening } from '../../src/http/listen.js';
import type { ServerOptions } from '../../src/http/make-server.js';

/** Who may have a connection, and what one connection may ask for at a time. */

const open: Listening[] = [];
const callers: Socket[] = [];
afterEach(async () => {
  for (const caller of callers.splice(0)) caller.destroy();
  await Promise.all(open.splice(0).map((listening) => listening.close(0)));
});

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
const hello: RequestListener = (_req, res) => void res.end('hello');

describe('a listener that is full', () => {
  test('closes the connection that has been idle longest, and takes the new one', async () => {
    const troubles: string[] = [];
    const come = await listening(hello, { connections: 2, onTrouble: (sentence) => troubles.push(sentence) });
    const [first, second] = [await come(), await come()];
    await answered(first, GET);
    await answered(second, GET);
    const third = await come();
    await answered(third, GET);
    await expect.poll(() => first.closed).toBe(true);
    await answered(second, GET);
    expect(troubles).toEqual([expect.stringMatching(/^127\.0\.0\.1:\d+ has 2 connections, the most that it may have/)]);
  });

  test.each([
    ['says nothing', ''],
    ['has sent half of its headers', 'POST / HTTP/1.1\r\nHost: local'],
    ['has sent half of its body', 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{'],
  ])('closes one that %s', async (_says, text) => {
    const come = await listening((req, res) => void req.resume().once('end', () => res.end('hello')), {
      connections: 1,
    });
    const slow = await come();
    if (text !== '') slow.write(text);
    await turn();
    await answered(await come(), GET);
    await expect.poll(() => slow.closed).toBe(true);
  });

  test('never closes one whose request is being worked on: the new one goes', async () => {
    const begun: ServerResponse[] = [];
    const come = await listening((_req, res) => void begun.push(res), { connections: 1 });
    const working = await come();
    working.write(GET);
    await expect.poll(() => begun.length).toBe(1);
    const late = await come();
    await expect.poll(() => late.closed).toBe(true);
    begun[0]?.end('hello');
    expect(String((await once(working, 'data'))[0])).toContain('hello');
  });

  test('closes connections of the client that has most of them, and of no other', async () => {
    const come = await listening(hello, { connections: 4 });
    const quiet = await come('127.0.0.2');
    await answered(quiet, GET);
    for (let at = 0; at < 10; at += 1) await answered(await come(), GET);
    await answered(quiet, GET);
    // And who comes while all places are a stranger's gets one.
    await answered(await come('127.0.0.3'), GET);
    expect(quiet.closed).toBe(false);
  });

  test('closes one that never asked before one that has waited longer and did', async () => {
    const come = await listening(hello, { connections: 3 });
    const kept = await come();
    await answered(kept, GET);
    const silent = [await come(), await come()];
    await answered(await come(), GET);
    await expect.poll(() => silent.map(({ closed }) => closed)).toEqual([true, false]);
    await answered(kept, GET);
  });

  test('counts each address for itself', async () => {
    const one = await listening(hello, { connections: 1 });
    const other = await listening(hello, { connections: 1 });
    const first = await one();
    const second = await other();
    await answered(first, GET);
    await answered(second, GET);
    expect([first.closed, second.closed]).toEqual([false, false]);
  });
});

describe('a connection that has not sent anything', () => {
  const limits = { checkEveryMs: 20, headersMs: 60_000, requestMs: 60_000, unreadMs: 60_000, silentMs: 60_000 };

  test('is served when it does', async () => {
    const come = await listening(hello, {});
    const caller = await come();
    for (let at = 0; at < 3; at += 1) await answered(caller, GET);
    expect(caller.closed).toBe(false);
  });

  test('goes after a while, and one that has does not', async () => {
    const come = await listening(hello, { limits: { ...limits, silentMs: 100 } });
    const [asked, silent] = [await come(), await come()];
    await answered(asked, GET);
    await expect.poll(() => silent.closed).toBe(true);
    await answered(asked, GET);
  });

  test('may hang up, in order or not', async () => {
    const come = await listening(hello, { connections: 3 });
    const kept = await come();
    await answered(kept, GET);
    (await come()).resetAndDestroy();
    const leaving = await come();
    leaving.end();
    await expect.poll(() => leaving.closed).toBe(true);
    await answered(await come(), GET);
    await answered(kept, GET);
  });

  test('does not delay the end', async () => {
    const come = await listening(hello, {});
    const silent = await come();
    await answered(await come(), GET);
    expect(await open.at(-1)?.close(60_000)).toBe(true);
    await expect.poll(() => silent.closed).toBe(true);
  });
});

describe('requests that come together on one connection', () => {
  test('are answered one after the other, in order', async () => {
    const [asked, most] = await pipelined(MOST_WAITING + 1);
    expect(asked).toEqual(Array.from({ length: MOST_WAITING + 1 }, (_, at) => `/${at}`));
    expect(most).toBe(1);
  });

  test('are cut off where there are more than anybody sends', async () => {
    const asked: string[] = [];
    const come = await listening((req) => void asked.push(req.url ?? ''), {});
    const caller = await come();
    caller.write(GET.repeat(2000));
    await expect.poll(() => caller.closed).toBe(true);
    expect(asked).toEqual(['/']);
  });

  test('and what is left of them is not even made into requests', async () => {
    let made = 0;
    const count = (): void => void (made += 1);
    subscribe('http.server.request.start', count);
    const come = await listening(() => undefined, {});
    const caller = await come();
    caller.write(GET.repeat(2000));
    await expect.poll(() => caller.closed).toBe(true);
    unsubscribe('http.server.request.start', count);
    expect(made).toBe(MOST_WAITING + 2);
  });
});

describe('an answer that nobody reads', () => {
  const LARGE = Buffer.alloc(7 * 1024 * 1024);
  const begun: number[] = [];
  const gone: number[] = [];
  const large: RequestListener = (_req, res) => {
    const number = begun.push(0);
    res.once('close', () => gone.push(number));
    res.end(LARGE);
  };
  beforeEach(() => {
    begun.length = 0;
    gone.length = 0;
  });

  async function deaf(come: () => Promise<Socket>): Promise<void> {
    const before = begun.length;
    const caller = await come();
    caller.pause();
    caller.write(GET);
    await expect.poll(() => begun.length).toBe(before + 1);
  }

  test('ends its connection after a while', async () => {
    const limits = { checkEveryMs: 20, headersMs: 60_000, requestMs: 60_000, unreadMs: 100, silentMs: 60_000 };
    await deaf(await listening(large, { limits }));
    await expect.poll(() => gone).toEqual([1]);
  });

  test('is let go when many of them fill the memory, the oldest first', async () => {
    const come = await listening(large, {});
    for (let at = 0; at < 6; at += 1) await deaf(come);
    await expect.poll(() => gone).toEqual([1, 2, 3, 4]);
  });
});

describe('the shares of two listeners', () => {
  const usual = { maxWaiting: 256, mainAddresses: 1, metricsAddresses: 1 };
  test.each([
    ['as many as can be of use, where there are plenty of descriptors', 524_288, usual, { main: 4096, metrics: 2560 }],
    ['more where more admissions may wait', 524_288, { ...usual, maxWaiting: 5000 }, { main: 5128, metrics: 2560 }],
    ['half and an eighth, where there are few', 160, usual, { main: 80, metrics: 20 }],
    ['divided among the addresses', 1024, { ...usual, mainAddresses: 2 }, { main: 256, metrics: 128 }],
    ['one, where there is next to nothing', 3, { ...usual, metricsAddresses: 0 }, { main: 1, metrics: 1 }],
  ])('are %s', (_says, descriptors, how, shares) => expect(connectionShares(descriptors, how)).toEqual(shares));

  test.each([
    ['Max open files            1024                 524288               files     \n', 1024],
    ['Max open files            unlimited            unlimited            files     \n', Number.MAX_SAFE_INTEGER],
    ['', Number.MAX_SAFE_INTEGER],
  ])('come from what the kernel says: %j', (text, limit) => expect(descriptorLimit(text)).toBe(limit));
});

/** A listener; what comes back makes a connection to it, once it has been taken. */
async function listening(
  app: RequestListener,
  options: Partial<ServerOptions>,
): Promise<(from?: string) => Promise<Socket>> {
  const started = await listen(app, [{ kind: 'tcp', host: '127.0.0.1', port: 0 }], options);
  open.push(started);
  const [address] = started.addresses;
  if (address?.kind !== 'tcp') throw new Error('not listening');
  return async (from = '127.0.0.1') => {
    const caller = connect({ port: address.port, host: '127.0.0.1', localAddress: from });
    caller.on('error', () => undefined);
    callers.push(caller);
    await once(caller, 'connect');
    return caller;
  };
}

async function answered(caller: Socket, text: string): Promise<void> {
  caller.write(text);
  expect(String((await once(caller, 'data'))[0])).toContain('hello');
}

/** What was asked, in order, and how many were under way at a time, at most. */
async function pipelined(count: number): Promise<readonly [readonly string[], number]> {
  const asked: string[] = [];
  let underWay = 0;
  let most = 0;
  const come = await listening((req, res) => {
    asked.push(req.url ?? '');
    underWay += 1;
    most = Math.max(most, underWay);
    setImmediate(() => {
      underWay -= 1;
      res.end('hello');
    });
  }, {});
  const caller = await come();
  let answers = '';
  caller.on('data', (chunk) => (answers += String(chunk)));
  caller.write(Array.from({ length: count }, (_, at) => GET.replace('/', `/${at}`)).join(''));
  await expect.poll(() => answers.split('hello').length - 1).toBe(count);
  return [asked, most];
}
