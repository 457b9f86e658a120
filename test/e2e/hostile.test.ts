import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer } from '../support/call.js';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import type { MetricsPage } from '../support/metrics-page.js';
import { startRedis, type TestRedis } from '../support/services/redis.js';
import { makeTokens } from '../support/tokens.js';

/** What must not be let in: each gets its row of the table and leaves no container, no lock and no trace but its outcome. */

/** Where every folder on the way is root's alone, as below a root for reading it must be. */
const folder = mkdtempSync('/srv/hostile-');
const data = join(folder, 'data');
const secret = 'correct-horse-battery';
const tokens = makeTokens({ console: 'admit', reader: 'read', operator: 'operate,release,read' });

let engine: Engine;
let redis: TestRedis;
let keys: ReturnType<TestRedis['client']>;
/** With tokens and a policy that allows `data`; and one that trusts this machine. */
let guarded: Gate;
let open: Gate;

beforeAll(async () => {
  [engine, redis] = await Promise.all([startEngine(), startRedis()]);
  keys = redis.client();
  mkdirSync(join(data, 'sets'), { recursive: true });
  mkdirSync(join(folder, 'private'));
  mkdirSync(join(data, 'scratch', 'of-a-job'), { recursive: true });
  chmodSync(folder, 0o755);
  symlinkSync(join(folder, 'private'), join(data, 'way-out'));
  symlinkSync('/etc', join(data, 'sets', 'config'));
  const policyFile = join(folder, 'policy.json');
  const mounts = [{ root: data, read_only: true }, { root: join(data, 'scratch') }];
  const policy = { images: ['gate-test:*'], mounts, max: { memory_bytes: 2 ** 30 } };
  writeFileSync(policyFile, JSON.stringify(policy));
  // A page may show the last look, so that what it shows changes only by what was counted.
  const settings = { TUNEPLANE_PROCESSES: '2', TUNEPLANE_SCRAPE_MAX_AGE_MS: '60000' };
  const rules = { TUNEPLANE_TOKENS_FILE: tokens.path, TUNEPLANE_POLICY_FILE: policyFile };
  [guarded, open] = await Promise.all([
    startGate({ engine, redisUrl: redis.url, settings: { ...settings, ...rules } }),
    startGate({ engine, redisUrl: redis.url, settings }),
  ]);
});
afterAll(async () => {
  await Promise.all([guarded?.stop(), open?.stop()]);
  await Promise.all([redis?.stop(), engine?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

const request = jobToPost('hostile', 1, { env: { SECRET: secret } });
const withIn = (more: object) => ({ ...request, container: { ...request.container, ...more } });
const raw = (from: string, to: string) => JSON.stringify(request).replace(from, to);
const mounting = (source: string, more: object = {}) =>
  withIn({ mounts: [{ type: 'bind', source, target: '/data', ...more }] });
const large = withIn({ env: { LARGE: 'x'.repeat(1024 * 1024) } });

interface Refused {
  readonly status: number;
  readonly code: string;
  /** Where in the request the mistake is; none where it is in no field. */
  readonly pointer?: string;
}
const malformed = (pointer: string): Refused => ({ status: 400, code: 'invalid_request', pointer });
const denied = (pointer: string): Refused => ({ status: 403, code: 'policy_denied', pointer });
const unsatisfiable: Refused = { status: 422, code: 'unsatisfiable' };
const source = '/container/mounts/0/source';

test.each<[string, unknown, Refused]>([
  ['an unknown key', { ...request, gpus: [0] }, malformed('/gpus')],
  ['an unknown key in the container', withIn({ privileged: true }), malformed('/container/privileged')],
  [
    'an unknown key in a mount',
    mounting(data, { propagation: 'shared' }),
    malformed('/container/mounts/0/propagation'),
  ],
  ["Docker's own JSON", withIn({ HostConfig: { Privileged: true } }), malformed('/container/HostConfig')],
  ['the key __proto__', raw('"count":1', '"count":1,"__proto__":{"count":8}'), malformed('/__proto__')],
  ['a count of "2"', { ...request, count: '2' }, malformed('/count')],
  ['a count of true', { ...request, count: true }, malformed('/count')],
  ['a count of -1', { ...request, count: -1 }, malformed('/count')],
  ['a count of 1.5', { ...request, count: 1.5 }, malformed('/count')],
  ['a count of null', { ...request, count: null }, malformed('/count')],
  ['no count', raw('"count":1,', ''), malformed('/count')],
  ['a count that is no number to JSON', raw('"count":1', '"count":1e999'), malformed('/count')],
  ['a count of 1e9', raw('"count":1', '"count":1e9'), unsatisfiable],
  ['a path for a run_id', { ...request, run_id: '../../etc' }, malformed('/run_id')],
  ['a list for a body', [request], malformed('')],
  ['half a body', '{"run_id": "hostile", ', malformed('')],
  [
    'NVIDIA_VISIBLE_DEVICES',
    withIn({ env: { NVIDIA_VISIBLE_DEVICES: 'all' } }),
    denied('/container/env/NVIDIA_VISIBLE_DEVICES'),
  ],
  ['LD_PRELOAD', withIn({ env: { LD_PRELOAD: '/data/x.so' } }), denied('/container/env/LD_PRELOAD')],
  ['a label of ours', withIn({ labels: { 'tuneplane.gpus': '' } }), denied('/container/labels/tuneplane.gpus')],
  ['a bind of /etc', mounting('/etc'), denied(source)],
  ['a bind of /etc by another way', mounting(`${data}/../../../../../../../../etc`), denied(source)],
  ['a bind of everything', mounting('/'), denied(source)],
  ['a bind of the Docker socket', mounting('/var/run/docker.sock'), denied(source)],
  ['a bind of what is not there', mounting('/data/none'), denied(source)],
  ["the host's network", withIn({ network: 'host' }), denied('/container/network')],
  ["the host's ipc", withIn({ ipc: 'host' }), denied('/container/ipc')],
  ['a card by its device file', withIn({ devices: ['/dev/nvidia0'] }), denied('/container/devices/0')],
  ['a device', withIn({ devices: ['/dev/mem'] }), denied('/container/devices/0')],
  ['a capability', withIn({ cap_add: ['SYS_ADMIN'] }), denied('/container/cap_add/0')],
  ['a port', withIn({ ports: [{ container: 80, host: 80 }] }), denied('/container/ports/0/host')],
  ['a body of 1 MiB', large, { status: 413, code: 'too_large' }],
])('a request with %s is refused by both gates and leaves no trace', async (_says, body, refused) => {
  await expectRefused(open, () => open.post('/admit', body), refused);
  await expectRefused(guarded, () => guarded.post('/admit', body, tokens.as('console')), refused);
});

test.each<[string, unknown, Refused]>([
  ['a link that leads out of the allowed root', mounting(`${data}/way-out`), denied(source)],
  ['a link to /etc below the allowed root', mounting(`${data}/sets/config`), denied(source)],
  ['a folder behind such a link', mounting(`${data}/sets/config/ssl`), denied(source)],
  ['a folder beside the allowed root', mounting(`${data}-too`), denied(source)],
  ['the folder that holds the allowed root', mounting(folder), denied(source)],
  ['a read-only root to be written', mounting(data), denied('/container/mounts/0/read_only')],
  ['a folder in a root that jobs may write', mounting(`${data}/scratch/of-a-job`), denied(source)],
  ['the same for reading', mounting(`${data}/scratch/of-a-job`, { read_only: true }), denied(source)],
  ['an image that the policy does not name', withIn({ image: 'busybox:latest' }), denied('/container/image')],
  ['more memory than the policy allows', withIn({ memory_bytes: 2 ** 31 }), denied('/container/memory_bytes')],
])('a request with %s is refused by the policy file and leaves no trace', async (_says, body, refused) => {
  await expectRefused(guarded, () => guarded.post('/admit', body, tokens.as('console')), refused);
});

const UNKNOWN = { authorization: 'Bearer tpgate_not-one-of-yours' };
test.each<[string, Readonly<Record<string, string>>, Refused]>([
  ['no token', {}, { status: 401, code: 'unauthenticated' }],
  ['a wrong token', UNKNOWN, { status: 401, code: 'unauthenticated' }],
  ['the password of a user', { authorization: 'Basic Y29uc29sZTpjb25zb2xl' }, { status: 401, code: 'unauthenticated' }],
  ['the role read', tokens.as('reader'), { status: 403, code: 'forbidden' }],
  ['every role but admit', tokens.as('operator'), { status: 403, code: 'forbidden' }],
  [
    'text/plain',
    { ...tokens.as('console'), 'content-type': 'text/plain' },
    { status: 415, code: 'unsupported_media_type' },
  ],
])('a request with %s is refused where there are tokens, and leaves no trace', async (_says, headers, refused) => {
  const answer = await expectRefused(guarded, () => guarded.post('/admit', request, headers), refused);
  expect(answer.headers['www-authenticate']).toBe(refused.status === 401 ? 'Bearer' : undefined);
});

test.each<[string, Readonly<Record<string, string>>, Refused]>([
  ['a wrong Host', { host: 'gate.evil.example' }, { status: 403, code: 'forbidden' }],
  ['a wrong Host of the right port', { host: 'evil.example:9840' }, { status: 403, code: 'forbidden' }],
  ['a web page behind it', { origin: 'https://evil.example' }, { status: 403, code: 'forbidden' }],
  ['text/plain', { 'content-type': 'text/plain' }, { status: 415, code: 'unsupported_media_type' }],
  ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, { status: 415, code: 'unsupported_media_type' }],
])('a request with %s is refused where there are none, and leaves no trace', async (_says, headers, refused) => {
  await expectRefused(open, () => open.post('/admit', request, headers), refused);
});

test('no value of env was written anywhere', () => {
  for (const gate of [guarded, open]) {
    expect(gate.audit().length).toBeGreaterThan(30);
    expect(gate.stdout() + gate.stderr()).not.toContain(secret);
  }
});

test('the same request with nothing of that in it runs, at both gates', async () => {
  const good = withIn({ ulimits: { memlock: 65536 } });
  expect((await open.post('/admit', { ...good, run_id: 'good-1' })).body).toMatchObject({ decision: 'admitted' });
  const inside = { ...mounting(`${data}/sets`, { read_only: true }), run_id: 'good-2' };
  const container = { ...inside.container, ulimits: { memlock: 65536 } };
  const answer = await guarded.post('/admit', { ...inside, container }, tokens.as('console'));
  expect(answer.body).toMatchObject({ decision: 'admitted', gpus: [1] });
});

/** Sends what must be refused and compares the world before and after. */
async function expectRefused(
  gate: Gate,
  send: () => Promise<Answer>,
  { status, code, pointer }: Refused,
): Promise<Answer> {
  const before = counted(await gate.metrics());
  const lines = gate.audit().length;
  const answer = await send();
  expect(answer.status).toBe(status);
  expect(answer.headers['content-type']).toBe('application/problem+json');
  expect(answer.headers['retry-after']).toBeUndefined();
  const body = answer.body as { errors?: { pointer: string; detail: string }[] };
  expect(body).toMatchObject({ type: `urn:tuneplane:problem:${code}`, status, code, retryable: false });
  const pointers = body.errors?.map((error) => error.pointer);
  // What is never allowed may be against the policy besides.
  expect(pointers && [...new Set(pointers)]).toEqual(pointer === undefined ? undefined : [pointer]);
  expect(answer.text).not.toContain(secret);

  const outcome = `tuneplane_gpu_admissions_total{outcome="${code}"}`;
  const after = counted(await gate.metrics());
  const refused = `tuneplane_gpu_callers_refused_total{code="${code}"}`;
  const turnedAway = refused in before ? { [refused]: (before[refused] ?? 0) + 1 } : {};
  expect(after).toEqual({ ...before, ...turnedAway, [outcome]: (before[outcome] ?? 0) + 1 });
  // Callers who are turned away one after the other are told when a second has passed without one more.
  const written = () => gate.audit().slice(lines);
  await expect.poll(written, { timeout: 5000 }).toMatchObject([{ audit: 'admit', outcome: code }]);
  expect(await engine.docker.listContainers({ all: true })).toEqual([]);
  expect(await keys.keys('*')).toEqual([]);
  return answer;
}

/** All of a page but what the clock and the process itself change: how long things took, and when. */
function counted(page: MetricsPage): Readonly<Record<string, number>> {
  const moves = /^(?:process_|nodejs_)|_seconds(?:_bucket|_sum|_count)?(?:\{|$)/;
  return Object.fromEntries([...page].filter(([series]) => !moves.test(series)));
}
