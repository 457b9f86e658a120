import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Keys } from '../../src/http/auth.js';
import { parseTokens } from '../../src/http/tokens-file.js';
import { CARD_STATES } from '../../src/model/card.js';
import { STATE_COLOURS } from '../../src/model/colours.js';
import { readPageFiles } from '../../src/page/page-files.js';
import { stateColoursCss } from '../../src/page/state-colours.js';
import { statusShape } from '../../src/page/status-shape.js';
import { hostileMachine, MIXED_DECISIONS, mixedMachine } from './mixed-machine.js';
import { builtPage, showGate } from './shown-gate.js';

const sha = createHash('sha256').update('read-token').digest('hex');
const parsed = parseTokens('t', `reader:${sha}:read`, 0o600);
const entries = parsed.kind === 'good' ? parsed.value : [];
const tokens: Keys = { kind: 'tokens', file: { current: async () => entries } };

const OPEN = ['/', '/page/main.js', '/page/page.css', '/page/state-colours.css', '/README.md'];

test.each(OPEN)('%s is open to everybody, with tokens too', async (path) => {
  const gate = await showGate({}, { keys: tokens });
  expect((await fetch(gate.url + path)).status).toBe(200);
});

test('the data ask for a token that may read', async () => {
  const gate = await showGate({}, { keys: tokens });
  expect((await fetch(`${gate.url}/status.json`)).status).toBe(401);
  const headers = { Authorization: 'Bearer read-token' };
  expect((await fetch(`${gate.url}/status.json`, { headers })).status).toBe(200);
});

test('without tokens another Host reaches neither the page nor its data', async () => {
  const gate = await showGate({}, { keys: { kind: 'open', hosts: new Set(['elsewhere']) } });
  for (const path of [...OPEN, '/status.json']) expect((await fetch(gate.url + path)).status).toBe(403);
});

test('the files of the page are the same whatever the machine does', async () => {
  const [idle, busy] = [await showGate(), await showGate({ snapshot: hostileMachine(), machine: 'gpu-02' })];
  for (const path of OPEN) {
    const [one, other] = [await fetch(idle.url + path), await fetch(busy.url + path)];
    expect(await one.text()).toBe(await other.text());
  }
});

test('the page may load what the gate serves and nothing else', async () => {
  const gate = await showGate();
  const policy = (await fetch(gate.url)).headers.get('content-security-policy')?.split('; ');
  expect(policy).toEqual(
    expect.arrayContaining(["default-src 'none'", "script-src 'self'", "style-src 'self'", "form-action 'none'"]),
  );
  expect(policy?.join()).not.toContain('unsafe');
  const html = await (await fetch(gate.url)).text();
  expect(html.match(/\sstyle=|\son\w+=|<style|<script(?! type="module" src="page\/main\.js">)/g)).toBeNull();
});

test.each([
  ['/', 'text/html; charset=utf-8'],
  ['/page/main.js', 'text/javascript; charset=utf-8'],
  ['/page/page.css', 'text/css; charset=utf-8'],
  ['/README.md', 'text/plain; charset=utf-8'],
])('%s says what it is', async (path, type) => {
  const gate = await showGate();
  expect((await fetch(gate.url + path)).headers.get('content-type')).toBe(type);
});

test('every module that the script loads is served', async () => {
  const gate = await showGate();
  const { parts } = builtPage();
  const loaded = [...parts.values()].flatMap(({ text }) =>
    [...text.matchAll(/^import .* from '\.\/(.+)';$/gm)].map(([, name]) => name ?? ''),
  );
  expect(loaded.length).toBeGreaterThan(5);
  for (const name of loaded) expect((await fetch(`${gate.url}/page/${name}`)).status).toBe(200);
});

test('nothing but the files of the page is served below /page/', async () => {
  const gate = await showGate();
  for (const name of ['index.html', 'status.ts', '..%2fapp.js', '__proto__', '%00', 'constructor']) {
    expect((await fetch(`${gate.url}/page/${name}`)).status).toBe(404);
  }
});

test('the data have the shape that the OpenAPI document gives them', async () => {
  const gate = await showGate({ snapshot: mixedMachine(), lockProblem: 'held by another for 3 s' });
  for (const decision of MIXED_DECISIONS) gate.decide(decision);
  const status = statusShape.parse(await (await fetch(`${gate.url}/status.json`)).json());
  expect(status).toMatchObject({
    machine: 'gpu-01',
    ready: true,
    lock: { held: false, waiting: 0, redis_up: null, problem: 'held by another for 3 s' },
    last_seen: { gpus: '2026-11-29T13:42:07.000Z' },
    cards: { counts: { free: 1, job_held: 3, external: 1, unhealthy: 1, excluded: 1, unknown: 1 } },
  });
  expect(status.decisions[0]).toMatchObject({ run_id: 'big-eval', outcome: 'wait', times: 23 });
});

test('each state has its colour from where the dashboards have it, on a light ground and on a dark one', () => {
  const css = stateColoursCss();
  for (const state of CARD_STATES) {
    const name = `--${state.replace('_', '-')}`;
    const values = [...css.matchAll(new RegExp(`${name}: (#[0-9a-f]{6});`, 'g'))].map(([, colour]) => colour);
    expect(values).toEqual([STATE_COLOURS[state].light, STATE_COLOURS[state].dark]);
    expect(css).toContain(`[data-state='${state}'] { --state: var(${name}); }`);
  }
});

test('a gate whose page was not built says how to build it', () => {
  expect(() => readPageFiles(new URL('../../src/page/client/', import.meta.url))).toThrow('npm run build');
});

test('a gate without the README has none, and serves all else', async () => {
  const files = readPageFiles(
    new URL('../../dist/page/client/', import.meta.url),
    new URL('file:///nowhere/README.md'),
  );
  expect(files.readme).toBeNull();
  const page = { files, status: () => Promise.reject(new Error('not asked for')) };
  const gate = await showGate({}, { page });
  expect((await fetch(`${gate.url}/README.md`)).status).toBe(404);
  expect((await fetch(gate.url)).status).toBe(200);
});
