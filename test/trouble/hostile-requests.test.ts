import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import {
  array,
  assert,
  asyncProperty,
  boolean,
  constantFrom,
  nat,
  option,
  tuple,
  uint8Array,
  type Arbitrary,
} from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PROBLEMS } from '../../src/http/problem.js';
import type { Answer } from '../support/call.js';
import { startGate, type Gate } from '../support/gate.js';
import { freePort } from '../support/services/redis.js';
import { startFakeEngine, type FakeEngine } from './fake-engine.js';
import { body, header, method, nearly, path } from './hostile-input.js';
import { answersIn, speak } from './raw-http.js';

/**
 * Requests that nobody thought of, to a real gate whose engine has no image: each gets an answer that README.md has, in time,
 * nothing is created, and the gate lives. They come in batches at the same time. A failure prints fast-check's seed and path;
 * `HOSTILE_RUNS` is how many there are in all, and prints the seed of the run; `HOSTILE_SEED` brings a run again.
 */

const RUNS = Number(process.env['HOSTILE_RUNS'] ?? 500);
const SEED = Number(process.env['HOSTILE_SEED'] ?? randomInt(2 ** 31));
/** Longer than the usual one only where more is asked. */
const TEST_MS = Math.max(60_000, RUNS * 200);
/** For a whole batch, each on a busy machine. A pattern that backtracks takes far longer. */
const IN_TIME_MS = 10_000;
const BATCH = 20;
const IDLE = 1000;

let docker: FakeEngine;
let gate: Gate;
let metricsPort = 0;
/** Connections that say nothing, and those that have sent half a header. */
const silent: Socket[] = [];
const begun: Socket[] = [];

beforeAll(async () => {
  docker = await startFakeEngine();
  docker.misbehave((line) => (/^(?:GET|POST) \/images\//.test(line) ? NO_IMAGE : null));
  metricsPort = await freePort();
  const settings = { TUNEPLANE_METRICS_LISTEN: `127.0.0.1:${metricsPort}` };
  gate = await startGate({ engine: docker, settings });
  if (process.env['HOSTILE_RUNS'] !== undefined) console.log(`HOSTILE_RUNS=${RUNS} HOSTILE_SEED=${SEED}`);
});
afterAll(async () => {
  for (const socket of [...silent, ...begun]) socket.destroy();
  await gate?.stop();
  await docker?.stop();
});
const NO_IMAGE = { status: 404, body: '{"message":"No such image: nothing is here"}' } as const;

const DECISIONS = new Set(['wait', 'would_admit', 'would_wait', 'would_replay']);
const expectRow = ({ status, text, headers }: Pick<Answer, 'status' | 'text' | 'headers'>): void => {
  const type = headers['content-type'] ?? '';
  if (status >= 400 && type !== 'application/json') {
    expect(type).toBe('application/problem+json');
    // A HEAD has no body.
    if (text === '') return;
    const problem = JSON.parse(text) as { code: keyof typeof PROBLEMS; status: number; retryable: boolean };
    expect(PROBLEMS[problem.code]?.status).toBe(status);
    expect(problem).toMatchObject({ status, retryable: status === 502 || status === 503 });
    expect(problem.code).not.toBe('internal');
    return;
  }
  // Not ready, which `/readyz` says in its own form.
  expect([200, 204, 503]).toContain(status);
};

/** For `/admit`: a decision, or a problem; and nothing was created. */
const expectOutcome = (answer: Answer): void => {
  expectRow(answer);
  if (answer.status === 200) expect(DECISIONS).toContain((answer.body as { decision: string }).decision);
};

async function inTime<T>(work: Promise<T>): Promise<T> {
  const began = performance.now();
  const done = await work;
  expect(performance.now() - began).toBeLessThan(IN_TIME_MS);
  return done;
}

const port = () => Number(new URL(gate.url).port);
/** Tries the property with so large a share of the runs, a batch at a time. */
function holds<T>(share: number, input: Arbitrary<T>, property: (value: T) => Promise<void>): Promise<void> {
  const batches = array(input, { minLength: BATCH, maxLength: BATCH, size: 'max' });
  return assert(
    asyncProperty(batches, async (batch) => {
      await inTime(Promise.all(batch.map((value) => property(value))));
    }),
    { numRuns: Math.ceil((RUNS * share) / BATCH), seed: SEED },
  );
}

/** The listener for metrics alone, or the main one. */
const someListener = boolean();
const portOf = (metrics: boolean) => (metrics ? metricsPort : port());

const expectUntouched = () => {
  expect(docker.requests.filter((line) => /^(?:POST|DELETE) \/containers/.test(line))).toEqual([]);
  expect(gate.stderr()).not.toContain('a request failed because of a bug in the gate');
};

describe(`beside ${IDLE} connections that say nothing or half a header`, () => {
  let openedAt = 0;
  let lastClosedAt = 0;
  beforeAll(async () => {
    openedAt = performance.now();
    for (let at = 0; at < IDLE; at++) {
      const socket = connect(port(), '127.0.0.1');
      socket.on('error', () => undefined).resume();
      if (at % 2 === 0) silent.push(socket);
      else {
        begun.push(socket);
        socket.once('close', () => (lastClosedAt = performance.now()));
        socket.write('POST /admit HTTP/1.1\r\nHost: local');
      }
    }
    await Promise.all(
      [...silent, ...begun].filter((socket) => socket.connecting).map((socket) => once(socket, 'connect')),
    );
  });

  test(
    'any body gets an answer that README.md has',
    async () => {
      await holds(0.4, tuple(body, boolean()), async ([text, dry]) => {
        expectOutcome(await gate.post(dry ? '/admit?dry_run=true' : '/admit', text));
      });
      expectUntouched();
    },
    TEST_MS,
  );

  test(
    'any path, method, header and body gets an answer that README.md has',
    async () => {
      const requests = tuple(someListener, method, path, array(header, { maxLength: 4 }), option(body));
      await holds(0.4, requests, async ([metrics, verb, at, headers, text]) => {
        const lines = [
          `${verb} ${at} HTTP/1.1`,
          'Host: localhost',
          'Connection: close',
          ...headers.map(([name, value]) => `${name}: ${value}`),
          ...(text === null ? [] : [`Content-Length: ${Buffer.byteLength(text)}`]),
        ];
        const bytes = text === null ? '' : Buffer.from(text).toString('latin1');
        const said = await speak(portOf(metrics), [`${lines.join('\r\n')}\r\n\r\n${bytes}`], 'when answered');
        const answers = answersIn(said);
        expect(answers).not.toEqual([]);
        for (const answer of answers) expectRow(answer);
      });
      expectUntouched();
    },
    TEST_MS,
  );

  test(
    'what is not even HTTP is answered with 400, 408 or 431, or not at all',
    async () => {
      const noise = uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
      const starts = constantFrom(
        '',
        'GET ',
        'POST /admit HTTP/1.1\r\n',
        'GET / HTTP/9.9\r\n\r\n',
        'POST /admit HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
        'POST /admit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n',
      );
      await holds(0.15, tuple(someListener, starts, noise), async ([metrics, start, rest]) => {
        for (const answer of answersIn(await speak(portOf(metrics), [start + rest], 'at once'))) expectRow(answer);
      });
      expectUntouched();
    },
    TEST_MS,
  );

  test(
    'a body in pieces, each after a pause, is answered as if it had come at once',
    async () => {
      await holds(0.05, tuple(nearly, array(nat(300), { maxLength: 4 })), async ([value, cuts]) => {
        const text = Buffer.from(JSON.stringify(value)).toString('latin1');
        const head = `POST /admit HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n`;
        const places = [0, ...cuts.map((cut) => Math.min(cut, text.length)).toSorted((a, b) => a - b), text.length];
        const pieces = places.slice(1).map((end, at) => text.slice(places[at], end));
        const [slow] = answersIn(await speak(port(), [head, ...pieces], 'when answered', 10));
        const atOnce = await gate.post('/admit', JSON.stringify(value));
        expect(slow?.status).toBe(atOnce.status);
        expectRow(slow!);
      });
      expectUntouched();
    },
    TEST_MS,
  );

  test('who has begun is cut off in time, the pages answer meanwhile, and the gate lives and ends at once', async () => {
    expect((await inTime(gate.cards())).counts.free).toBe(8);
    expect((await inTime(gate.metrics())).get('tuneplane_gpu_external_probe_ok')).toBe(1);
    await expect.poll(() => begun.filter((socket) => !socket.closed).length, { timeout: 20_000 }).toBe(0);
    // 10 s for headers, and a moment to say goodbye.
    expect(lastClosedAt - openedAt).toBeLessThan(15_000);
    expect(await gate.stop()).toEqual({ code: 0, signal: null });
    await expect.poll(() => silent.every((socket) => socket.closed)).toBe(true);
    expectUntouched();
  });
});
