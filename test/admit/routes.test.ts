import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Decision, Run } from '../../src/model/admission.js';
import { cardIndex, cardUuid } from '../../src/model/card.js';
import { RULES_WITHOUT_A_FILE } from '../../src/policy/policy-rules.js';
import { createPolicy } from '../../src/policy/policy.js';
import { admitted, REQUEST, startGate, type Gate } from '../http/gate.js';
import { nothingOffLimits } from '../support/off-limits.js';

test('a posted request reaches the admission whole, is answered, counted once and written down once', async () => {
  const gate = await startGate();
  const response = await gate.post({ ...REQUEST, container: { ...REQUEST.container, env: { SECRET: 'hunter2' } } });
  expect(response.status).toBe(201);
  expect(response.headers.get('location')).toBe('/runs/train-17');
  expect(await response.json()).toMatchObject({ decision: 'admitted', gpus: [0, 1] });
  expect(gate.calls).toMatchObject([
    { spec: { runId: 'train-17', count: 2, pidsLimit: 32_768 }, principal: { name: 'local' } },
  ]);
  expect(gate.outcomes).toEqual(['admitted']);
  expect(gate.audit).toEqual([
    {
      at: '2026-11-29T12:00:01.000Z',
      action: 'admit',
      principal: 'local',
      remote: '127.0.0.1',
      runId: 'train-17',
      outcome: 'admitted',
      detail: 'consecutive',
      count: 2,
      image: 'registry.local/train:1.4',
      cards: ['GPU-0', 'GPU-1'],
      containerId: 'c0ffee',
      tookMs: expect.any(Number),
    },
  ]);
  expect(JSON.stringify(gate.audit)).not.toContain('hunter2');
});

const waiting = { requested: 2, free: 0, retryAfterSeconds: 5, explain: 'all are held', reasons: [] };

test.each<[string, Decision, number, string]>([
  ['admitted', admitted(), 201, 'admitted'],
  ['replayed', admitted({ replayed: true }), 200, 'replayed'],
  ['starting', { ...admitted(), kind: 'starting' }, 202, 'starting'],
  ['ended', { ...admitted(), kind: 'ended' }, 200, 'ended'],
  ['told to wait', { kind: 'wait', ...waiting }, 200, 'wait'],
  ['refused', { kind: 'refused', code: 'lock_unavailable', detail: 'x' }, 503, 'lock_unavailable'],
  ['refused for ever', { kind: 'refused', code: 'unsatisfiable', detail: 'x' }, 422, 'unsatisfiable'],
])('a request that is %s is counted as what it was', async (_says, decision, status, outcome) => {
  const gate = await startGate();
  gate.decide = () => decision;
  expect((await gate.post(REQUEST)).status).toBe(status);
  expect(gate.outcomes).toEqual([outcome]);
  expect(gate.audit.map((entry) => entry.outcome)).toEqual([outcome]);
});

const container = REQUEST.container;
const json = (body: unknown): { body: string; headers: Record<string, string> } => ({
  body: typeof body === 'string' ? body : JSON.stringify(body),
  headers: { 'Content-Type': 'application/json' },
});

test.each<[string, { body: string; headers: Record<string, string> }, number, string]>([
  ['an unknown key', json({ ...REQUEST, gpus: 2 }), 400, 'invalid_request'],
  ['"2" cards', json({ ...REQUEST, count: '2' }), 400, 'invalid_request'],
  ['true cards', json({ ...REQUEST, count: true }), 400, 'invalid_request'],
  ['-1 cards', json({ ...REQUEST, count: -1 }), 400, 'invalid_request'],
  ['1.5 cards', json({ ...REQUEST, count: 1.5 }), 400, 'invalid_request'],
  ['no count', json({ run_id: 'a', container }), 400, 'invalid_request'],
  [
    'more cards than can be counted',
    json('{"run_id":"a","count":1e400,"container":{"image":"a"}}'),
    400,
    'invalid_request',
  ],
  ['half a body', json('{"run_id":"a"'), 400, 'invalid_request'],
  ['a body that is a number', json('3'), 400, 'invalid_request'],
  ['an empty body', json(''), 400, 'invalid_request'],
  [
    'NVIDIA_VISIBLE_DEVICES',
    json({ ...REQUEST, container: { ...container, env: { NVIDIA_VISIBLE_DEVICES: 'all' } } }),
    403,
    'policy_denied',
  ],
  [
    'a label of the platform',
    json({ ...REQUEST, container: { ...container, labels: { 'tuneplane.gpus': '0' } } }),
    403,
    'policy_denied',
  ],
  [
    'a bind of /etc',
    json({ ...REQUEST, container: { ...container, mounts: [{ type: 'bind', source: '/etc', target: '/x' }] } }),
    403,
    'policy_denied',
  ],
  [
    'a body of 1 MiB',
    json({ ...REQUEST, container: { ...container, env: { A: 'x'.repeat(2 ** 20) } } }),
    413,
    'too_large',
  ],
  [
    'plain text',
    { body: JSON.stringify(REQUEST), headers: { 'Content-Type': 'text/plain' } },
    415,
    'unsupported_media_type',
  ],
  [
    'a form',
    { body: 'run_id=a', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
    415,
    'unsupported_media_type',
  ],
  [
    'a type that begins like JSON',
    { body: '{}', headers: { 'Content-Type': 'application/jsonp' } },
    415,
    'unsupported_media_type',
  ],
  [
    'a packed body',
    { body: '{}', headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' } },
    415,
    'unsupported_media_type',
  ],
  [
    'another charset',
    { body: '{}', headers: { 'Content-Type': 'application/json; charset=latin1' } },
    415,
    'unsupported_media_type',
  ],
])(
  '%s is refused, reaches no admission, and leaves its outcome alone',
  async (_says, { body, headers }, status, code) => {
    const gate = await startGate();
    const response = await fetch(`${gate.url}/admit`, { method: 'POST', body, headers });
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toMatchObject({ code, status, retryable: false, detail: expect.any(String) });
    expect(gate.calls).toEqual([]);
    expect(gate.outcomes).toEqual([code]);
    expect(gate.audit.map((entry) => entry.outcome)).toEqual([code]);
  },
);

test('what a broken body held is not repeated', async () => {
  const gate = await startGate();
  const response = await gate.post('{"TOKEN":hunter2}');
  expect(response.status).toBe(400);
  expect(await response.text()).not.toContain('hunter2');
  expect(JSON.stringify([gate.audit, gate.logged])).not.toContain('hunter2');
});

test('a link that leads out of an allowed root is refused', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'routes-'));
  await mkdir(join(folder, 'root'));
  await symlink(tmpdir(), join(folder, 'root/out'));
  const rules = { ...RULES_WITHOUT_A_FILE, mounts: [{ root: join(folder, 'root'), readOnly: true }] };
  const gate = await startGate({ policy: createPolicy({ rules: () => rules, offLimits: nothingOffLimits }) });
  const bind = (source: string): object => ({
    ...REQUEST,
    container: { ...container, mounts: [{ type: 'bind', source, target: '/x', read_only: true }] },
  });
  const response = await gate.post(bind(join(folder, 'root/out')));
  expect(await response.json()).toMatchObject({
    code: 'policy_denied',
    errors: [
      { pointer: '/container/mounts/0/source', detail: expect.stringContaining('leads out of the allowed roots') },
    ],
  });
  expect(gate.calls).toEqual([]);
  expect((await gate.post(bind(join(folder, 'root')))).status).toBe(201);
  await rm(folder, { recursive: true });
});

test('a body just below the limit is read', async () => {
  const gate = await startGate();
  const env = { A: 'x'.repeat(100_000), B: 'x'.repeat(100_000) };
  expect((await gate.post({ ...REQUEST, container: { ...container, env } })).status).toBe(201);
});

test('a dry run asks what would be, and is neither counted nor written down', async () => {
  const gate = await startGate();
  gate.decide = () => ({ kind: 'would_wait', ...waiting });
  const response = await gate.post(REQUEST, { query: '?dry_run=true' });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ dry_run: true, decision: 'would_wait' });
  expect([gate.dryRuns.length, gate.calls.length]).toEqual([1, 0]);
  await gate.post({ ...REQUEST, count: -1 }, { query: '?dry_run=true' });
  expect([gate.outcomes, gate.audit]).toEqual([[], []]);
});

test.each([
  '?dry_run=false',
  '?dry_run=1',
  '?dry_run',
  '?dry_run=TRUE',
  '?dry_run=true&dry_run=true',
  '?dryrun=true',
  '?x=1',
  '?dry_run[a]=true',
])('the query %s is refused, and starts nothing', async (query) => {
  const gate = await startGate();
  const response = await gate.post(REQUEST, { query });
  expect(response.status).toBe(400);
  expect(gate.calls).toEqual([]);
  expect(gate.outcomes).toEqual(['invalid_request']);
});

test('a fault of ours is 500 without its stack, is logged and counted', async () => {
  const gate = await startGate();
  gate.decide = () => Promise.reject(new Error('the cause of it'));
  const response = await gate.post(REQUEST);
  expect(response.status).toBe(500);
  const text = await response.text();
  expect(text).not.toContain('the cause of it');
  expect(JSON.parse(text)).toMatchObject({ code: 'internal', retryable: false });
  expect(gate.logged).toMatchObject([{ level: 'error', data: { err: { message: 'the cause of it' } } }]);
  expect(gate.outcomes).toEqual(['internal']);
});

test('a caller that hangs up while it waits is told to the admission, and counted as what that decides', async () => {
  const gate = await startGate();
  const seen = deferred<AbortSignal>();
  const decided = deferred<Decision>();
  gate.decide = ({ gone }) => {
    seen.resolve(gone);
    return decided.promise;
  };
  const client = hangingPost(gate);
  const gone = await seen.promise;
  expect(gone.aborted).toBe(false);
  client.destroy();
  await new Promise((resolve) => {
    gone.addEventListener('abort', resolve);
  });
  expect(gate.outcomes).toEqual([]);
  decided.resolve({ kind: 'client_gone' });
  await expect.poll(() => gate.outcomes).toEqual(['client_gone']);
  expect(gate.audit.map(({ outcome, runId }) => [outcome, runId])).toEqual([['client_gone', 'train-17']]);
});

test('a run that was admitted after its caller hung up counts as admitted', async () => {
  const gate = await startGate();
  const decided = deferred<Decision>();
  gate.decide = () => decided.promise;
  const client = hangingPost(gate);
  await expect.poll(() => gate.calls.length).toBe(1);
  client.destroy();
  await expect.poll(() => gate.calls[0]?.gone.aborted).toBe(true);
  decided.resolve(admitted());
  await expect.poll(() => gate.outcomes).toEqual(['admitted']);
});

test('the signal stays quiet for a caller that stays, also when its answer has been sent', async () => {
  const gate = await startGate();
  await (await gate.post(REQUEST)).text();
  expect(gate.calls[0]?.gone.aborted).toBe(false);
});

test('a caller that hangs up in the middle of its body is counted as gone', async () => {
  const gate = await startGate();
  const client = httpRequest(`${gate.url}/admit`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Content-Length': '1000' },
  });
  client.on('error', () => undefined);
  await new Promise((resolve) => {
    client.write('{"run_id":', resolve);
  });
  client.destroy();
  await expect.poll(() => gate.outcomes).toEqual(['client_gone']);
  expect([gate.calls, gate.logged]).toEqual([[], []]);
});

const run: Run = {
  runId: 'train-17',
  state: 'exited',
  principal: 'console',
  labels: { team: 'vision' },
  image: 'train:1.4',
  command: 'python train.py',
  cards: [{ index: cardIndex(0), uuid: cardUuid('GPU-0') }],
  exitCode: 1,
  oomKilled: true,
  error: null,
  createdAt: '2026-11-29T11:00:00.000Z',
  startedAt: '2026-11-29T11:00:01.000Z',
  finishedAt: null,
};
const shown = {
  run_id: 'train-17',
  state: 'exited',
  position: null,
  principal: 'console',
  labels: { team: 'vision' },
  image: 'train:1.4',
  command: 'python train.py',
  cards: [{ index: 0, uuid: 'GPU-0' }],
  exit_code: 1,
  oom_killed: true,
  error: null,
  created_at: '2026-11-29T11:00:00.000Z',
  started_at: '2026-11-29T11:00:01.000Z',
  finished_at: null,
};

test('the jobs are listed, and one is shown', async () => {
  const gate = await startGate();
  gate.runs = { kind: 'seen', value: [run], tookMs: 1 };
  expect(await (await fetch(`${gate.url}/runs`)).json()).toEqual({ runs: [shown] });
  expect(await (await fetch(`${gate.url}/runs/train-17`)).json()).toEqual(shown);
});

test.each(['train-18', 'a%2Fb', '..%2Fx', 'a'.repeat(64)])('the run %s is unknown', async (runId) => {
  const gate = await startGate();
  for (const method of ['GET', 'DELETE']) {
    gate.removal = 'unknown';
    const response = await fetch(`${gate.url}/runs/${runId}`, { method });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: 'not_found' });
  }
});

test('jobs that could not be listed are 503, never an empty list', async () => {
  const gate = await startGate();
  gate.runs = { kind: 'blind', why: 'unavailable', detail: 'the socket is not there', tookMs: 1 };
  for (const path of ['/runs', '/runs/train-17']) {
    const response = await fetch(gate.url + path);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('5');
    expect(await response.json()).toMatchObject({
      code: 'docker_unavailable',
      retryable: true,
      detail: expect.stringContaining('the socket is not there'),
    });
  }
});

test.each<[string, Gate['removal'], number, string]>([
  ['had ended', 'removed', 204, 'removed'],
  ['is alive', 'alive', 409, 'run_alive'],
  ['is unknown', 'unknown', 404, 'not_found'],
  ['cannot be asked for', { kind: 'refused', code: 'docker_unavailable', detail: 'x' }, 503, 'docker_unavailable'],
])('a run that %s is deleted accordingly, and it is written down', async (_says, removal, status, outcome) => {
  const gate = await startGate();
  gate.removal = removal;
  const response = await fetch(`${gate.url}/runs/train-17`, { method: 'DELETE' });
  expect(response.status).toBe(status);
  expect(gate.removed).toEqual(['train-17']);
  expect(gate.audit).toMatchObject([{ action: 'delete', runId: 'train-17', outcome }]);
  expect(gate.outcomes).toEqual([]);
});

test('a delete that asks for more than it knows does nothing', async () => {
  const gate = await startGate();
  expect((await fetch(`${gate.url}/runs/train-17?force=true`, { method: 'DELETE' })).status).toBe(400);
  expect(gate.removed).toEqual([]);
});

function hangingPost(gate: Gate): { destroy(): void } {
  const client = httpRequest(`${gate.url}/admit`, { method: 'POST', headers: { 'Content-Type': 'application/json' } });
  client.on('error', () => undefined);
  client.end(JSON.stringify(REQUEST));
  return client;
}

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
